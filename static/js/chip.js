// What one chip above the message field shows: the name of its file, its picture, a size.
const shelf = document.getElementById("attached"), template = document.getElementById("chip");

// With a space at which no line breaks.
export const size = (bytes) => (bytes < 1024 ? `${bytes}\u00a0B`
  : bytes < 1024 ** 2 ? `${Math.round(bytes / 1024)}\u00a0KB` : `${(bytes / 1024 ** 2).toFixed(1)}\u00a0MB`);

export const label = (chip, name) => {
  chip.querySelector("[data-name]").textContent = name;
  chip.querySelector("[data-remove]").ariaLabel = `Remove ${name}`;
};

export const make = (name) => {
  const chip = template.content.firstElementChild.cloneNode(true);
  label(chip, name);
  shelf.append(chip);
  return chip;
};

export const picture = (chip, path) => {
  const image = chip.querySelector("img");
  Object.assign(image, { src: `${shelf.dataset.show}?path=${encodeURIComponent(path)}`, alt: path, hidden: false });
  chip.querySelector(".icon").remove();
};
