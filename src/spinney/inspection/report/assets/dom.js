// Elements. Texts become text nodes and attributes are named by this program alone, so nothing that
// comes from data can become markup.

const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (attribute === "css") {
      for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(attribute, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

// A name from the data: kept apart from the direction of the text around it.
function name(text) {
  return make("bdi", { class: "name" }, text);
}

function card(title, ...children) {
  return make("section", { class: "card" }, make("h2", {}, title), children);
}

function action(label, handler, attributes = {}) {
  return make("button", { type: "button", ...attributes, on: { click: handler } }, label);
}

function quiet(...children) {
  return make("p", { class: "quiet" }, children);
}

function replaceContent(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined),
  );
}

function colourOfClass(code) {
  if (code < 0) return "var(--muted)";
  if (nOutputs <= 10) return `var(--class-${code})`;
  return `hsl(${(code * 137.508) % 360} 42% var(--class-light))`;
}
