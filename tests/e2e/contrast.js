// Makes axe faster: texts painted alike are measured once, and so is each colour that it reads.
(passed) => {
  const { Color } = axe.commons.color;
  const parse = Color.prototype.parseString;
  const colors = new Map();
  Color.prototype.parseString = function (text) {
    if (!colors.has(text)) colors.set(text, parse.call(new Color(), text));
    for (const part of ["r", "g", "b", "alpha"]) this[part] = colors.get(text)[part];
    return this;
  };

  // What an element's text stands on: the paint of each ancestor, up to one that covers what is behind it. Nothing
  // where other elements may be behind it, or where it is seen through.
  let grounds;
  const ground = (one) => {
    if (!one) return "canvas";
    if (!grounds.has(one)) {
      const { backgroundColor, backgroundImage, filter, inset, margin, mixBlendMode, opacity, position, transform } = getComputedStyle(one);
      const opaque = !/\/|rgba|transparent/.test(backgroundColor);
      const behind = ground(one.parentElement);
      const moved = /absolute|fixed|sticky/.test(position) || /[1-9]/.test(inset) || margin.includes("-") || transform !== "none";
      const plain = backgroundImage === "none" && filter === "none" && mixBlendMode === "normal" && opacity === "1";
      grounds.set(one, !plain || (moved && !opaque) || !behind ? "" : opaque ? backgroundColor : `${backgroundColor} ${behind}`);
    }
    return grounds.get(one);
  };
  const paint = (one) => {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(one);
    // Letters below 18 px need the same contrast in each weight.
    const size = parseFloat(fontSize) < 18 ? "small" : `${fontSize} ${fontWeight}`;
    return ground(one) && [color, size, textShadow, ground(one)].join();
  };

  const measured = new Set(passed);
  const check = axe._audit.checks["color-contrast"];
  const measure = check.evaluate;
  let fresh;
  check.evaluate = function (one, ...more) {
    const key = paint(one);
    if (key && measured.has(key)) return true;
    const result = measure.call(this, one, ...more);
    if (result === true && key) [measured, fresh].forEach((set) => set.add(key));
    return result;
  };
  window.axeRun = (...asked) => {
    [grounds, fresh] = [new Map(), new Set()];
    return axe.run(...asked).then(({ violations }) => [violations, [...fresh]]);
  };
}
