// Arrays of the page: base64, inflated, and put together from planes of bytes.
// `report/blocks.py` writes them. A block is read when it is first asked for, and kept.

const ARRAY_TYPES = {
  u1: Uint8Array,
  i1: Int8Array,
  u2: Uint16Array,
  i2: Int16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
};

const blocksRead = new Map();

function readBlock(id) {
  if (!blocksRead.has(id)) blocksRead.set(id, decodeBlock(document.getElementById(id)));
  return blocksRead.get(id);
}

async function decodeBlock(element) {
  const bytes = await inflate(fromBase64(element.textContent));
  const arrays = {};
  let begin = 0;
  for (const entry of element.dataset.arrays.split(" ")) {
    const [key, kind, length] = entry.split(":");
    const Type = ARRAY_TYPES[kind];
    const end = begin + Number(length) * Type.BYTES_PER_ELEMENT;
    arrays[key] = fromPlanes(bytes.subarray(begin, end), Type);
    begin = end;
  }
  element.textContent = ""; // the text is several times the arrays
  return arrays;
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromPlanes(planes, Type) {
  const width = Type.BYTES_PER_ELEMENT;
  const length = planes.length / width;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < width; plane++) {
    for (let i = 0; i < length; i++) bytes[i * width + plane] = planes[plane * length + i];
  }
  return new Type(bytes.buffer);
}
