# Compiles for another system without having it: zig's Clang brings headers and libraries of each. To be given as
# CMAKE_TOOLCHAIN_FILE, with SPINNEY_PYTHON, which has the package ziglang, and SPINNEY_TARGET; see `make portability`.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SPINNEY_PYTHON SPINNEY_TARGET)

string(REPLACE "-" ";" target_parts "${SPINNEY_TARGET}")
list(GET target_parts 0 CMAKE_SYSTEM_PROCESSOR)
list(GET target_parts 1 target_system)
set(system_named_linux Linux)
set(system_named_macos Darwin)
set(system_named_windows Windows)
set(CMAKE_SYSTEM_NAME ${system_named_${target_system}})

set(zig ${SPINNEY_PYTHON} -m ziglang)
set(CMAKE_CXX_COMPILER ${zig} c++ -target ${SPINNEY_TARGET})
# An archive made by the tool of this system would lack the list of symbols that the linker of another looks into.
list(JOIN zig " " zig_command)
set(CMAKE_CXX_ARCHIVE_CREATE "${zig_command} ar qc <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "${zig_command} ranlib <TARGET>")

# Tests run under an emulator where there is one (Debian: qemu-user-static with libc6-arm64-cross; wine64).
if(SPINNEY_TARGET STREQUAL "aarch64-linux-gnu")
  find_program(SPINNEY_QEMU NAMES qemu-aarch64-static qemu-aarch64)
  if(SPINNEY_QEMU AND EXISTS /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${SPINNEY_QEMU} -L /usr/aarch64-linux-gnu)
  endif()
elseif(target_system STREQUAL "windows")
  find_program(SPINNEY_WINE NAMES wine64 wine PATHS /usr/lib/wine)
  if(SPINNEY_WINE)
    set(CMAKE_CROSSCOMPILING_EMULATOR
      ${CMAKE_COMMAND} -E env WINEPREFIX=${CMAKE_BINARY_DIR}/wine WINEDEBUG=-all ${SPINNEY_WINE})
  endif()
endif()
