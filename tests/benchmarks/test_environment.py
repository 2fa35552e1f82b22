import environment

import spinney


def test_a_package_that_is_only_on_the_path_has_a_version(monkeypatch):
    def missing(_package):
        raise environment.PackageNotFoundError

    monkeypatch.setattr(environment, "version", missing)
    found = environment.versions()
    assert found["spinney"] == spinney.__version__
    assert found["xgboost"] == "not installed"
