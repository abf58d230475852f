// What one chip above the message field shows: the name of its file, its picture, a size.
const shelf = document.getElementById("attached"), template = document.getElementById("chip");

// In the units of the panel Files, with a space at which no line breaks.
export const size = (bytes) => {
  if (bytes < 1024) return bytes === 1 ? "1\u00a0byte" : `${bytes}\u00a0bytes`;
  const [amount, unit] = bytes / 1024 < 1023.95 ? [bytes / 1024, "KiB"] : [bytes / 1024 ** 2, "MiB"];
  return `${amount.toFixed(1).replace(/\.0$/, "")}\u00a0${unit}`;
};

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
