// Measures the page as it stands; gives its faults in words. Not measured: what axe finds.
({ controlsToo }) => {
  const SEEN = { visibilityProperty: true };
  const ASIDE = ".visually-hidden, .skip, [inert], dialog:not([open]), [popover]:not(:popover-open)";
  const aside = (one) => one.closest(ASIDE) || getComputedStyle(one).clipPath === "inset(50%)";
  const plain = (text) => text.toLowerCase().replace(/[^\p{L}\p{N} ]/gu, " ").replace(/\s+/g, " ").trim();
  const short = (text) => `“${text.trim().replace(/\s+/g, " ").slice(0, 40)}”`;
  const named = (one) => `${one.tagName.toLowerCase()}${one.id && `#${one.id}`} ${short(one.getAttribute("aria-label") || one.innerText || one.name || "")}`;
  const faults = [];

  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) faults.push(`wider than the screen by ${wide} px`);

  // Texts that are cut off, or lie over each other.
  const pieces = [];
  const within = new Map();
  const frame = (one) => {
    if (!within.has(one)) {
      const { overflowX, textOverflow, position } = getComputedStyle(one);
      within.set(one, { clips: overflowX !== "visible", scrolls: /auto|scroll/.test(overflowX) || textOverflow === "ellipsis",
        floats: /fixed|sticky/.test(position), box: one.getBoundingClientRect() });
    }
    return within.get(one);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const parent = text.parentElement;
    if (!text.data.trim() || parent.closest("option, script, math") || !parent.checkVisibility(SEEN) || aside(parent)) continue;
    if (parent.parentElement && aside(parent.parentElement)) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const rects = [...range.getClientRects()];
    let room = { left: -1e9, right: 1e9, top: -1e9, bottom: 1e9 };
    let root = document.body; // what stays in its place while the rest scrolls lies over other texts by design
    let cut = false;
    let scrolls = false;
    for (let up = parent; up !== document.documentElement; up = up.parentElement) {
      const { clips, scrolls: moves, floats: apart, box } = frame(up);
      if (apart && root === document.body) root = up;
      scrolls ||= moves;
      if (!clips || up === document.body) continue;
      room = { left: Math.max(room.left, box.left), right: Math.min(room.right, box.right), top: Math.max(room.top, box.top),
        bottom: Math.min(room.bottom, box.bottom) };
      cut ||= !scrolls && rects.some((rect) => rect.right > box.right + 7 || rect.left < box.left - 7);
    }
    if (cut) faults.push(`${short(text.data)} is cut off`);
    for (const rect of rects) {
      const [left, right] = [Math.max(rect.left, room.left), Math.min(rect.right, room.right)];
      const [top, bottom] = [Math.max(rect.top, room.top), Math.min(rect.bottom, room.bottom)];
      if (right - left > 2 && bottom - top > 2) pieces.push({ left, right, top, bottom, text, root });
    }
  }
  pieces.sort((one, other) => one.top - other.top);
  pieces.forEach((one, index) => {
    for (const other of pieces.slice(index + 1, index + 200)) {
      if (other.top >= one.bottom - 5) break;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      if (one.text !== other.text && one.root === other.root && across > 3 && Math.min(one.bottom, other.bottom) - other.top > 5)
        faults.push(`${short(one.text.data)} lies over ${short(other.text.data)}`);
    }
  });

  // On a phone a table fits its box, unless it is a matrix or a text has it. One that stacks has its roles and names of columns in its cells.
  for (const table of [...document.querySelectorAll("main table:not(.prose *, .call *)")].filter((one) => one.checkVisibility())) {
    const box = table.parentElement;
    const heads = table.tHead?.rows[0].cells ?? [];
    const name = short(box.getAttribute("aria-label") ?? heads[0]?.textContent ?? "");
    if (innerWidth < 640 && !table.matches(".matrix, .counts") && box.scrollWidth > box.clientWidth + 1)
      faults.push(`the table ${name} is ${box.scrollWidth - box.clientWidth} px wider than its box`);
    if (!table.hasAttribute("role")) continue;
    if (table.querySelector(":is(thead, tbody, tr, th, td):not([role])")) faults.push(`a part of the table ${name} has no role`);
    for (const { cellIndex, dataset } of table.querySelectorAll("tbody td")) {
      const head = heads[cellIndex];
      const label = !head || head.querySelector(".visually-hidden") ? dataset.label : head.textContent.trim();
      if (dataset.label !== label) faults.push(`a cell of the table ${name} has the label ${dataset.label} for ${label}`);
    }
  }
  if (!controlsToo) return faults;

  const CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=switch], [role=option]";
  const controls = [...document.querySelectorAll(CONTROLS)].filter((one) => one.checkVisibility(SEEN) && one.getClientRects().length && !aside(one));

  // Targets of 24 px, or as much room around a smaller one; links in a sentence are left out (WCAG 2.5.8).
  const target = (one) => [one, ...(one.labels ?? [])].map((each) => each.getBoundingClientRect())
    .reduce((best, each) => (Math.min(each.width, each.height) > Math.min(best.width, best.height) ? each : best));
  const sentence = (one) => getComputedStyle(one).display === "inline" && one.parentElement.innerText.trim().length > one.innerText.trim().length;
  const targets = controls.filter((one) => !one.disabled).map((one) => ({ one, box: target(one) }));
  const small = targets.filter(({ one, box }) => Math.min(box.width, box.height) < 23.9 && !sentence(one));
  for (const { one, box } of small) {
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const far = ({ left, right, top, bottom }) => Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
    const near = targets.find((other) => !other.one.contains(one) && !one.contains(other.one) && far(other.box) < 12);
    if (near) faults.push(`${named(one)} is ${Math.round(box.width)}×${Math.round(box.height)} px beside ${named(near.one)}`);
  }

  // A name for readers has the words that are seen, for people who speak to their machine.
  for (const one of controls) {
    const label = one.getAttribute("aria-label");
    if (!label || one.matches("input, select, textarea")) continue;
    const copy = one.cloneNode(true);
    for (const part of copy.querySelectorAll("[aria-hidden=true], .visually-hidden, kbd, svg, [hidden]")) part.remove();
    if (!plain(label).includes(plain(copy.textContent))) faults.push(`${short(copy.textContent)} is not in the name ${short(label)}`);
  }

  for (const one of controls)
    if (one.tabIndex < 0 && !one.disabled && !one.closest("[role=listbox], [role=menu], .matrix")) faults.push(`no key reaches ${named(one)}`);

  // Focus is seen: on the control itself, or on the box around it.
  const look = (one) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor } = getComputedStyle(one);
    return outlineStyle === "none" ? boxShadow + borderColor : outlineWidth + outlineColor + boxShadow + borderColor;
  };
  for (const one of controls) {
    if (one.disabled) continue;
    const boxes = [one, one.parentElement, one.parentElement.parentElement, one.closest(".composer, .palette-field")].filter(Boolean);
    document.activeElement?.blur();
    const before = boxes.map(look).join();
    one.focus({ focusVisible: true, preventScroll: true });
    if (document.activeElement === one && boxes.map(look).join() === before) faults.push(`the focus on ${named(one)} is not seen`);
  }
  document.activeElement?.blur();

  for (const moving of document.getAnimations()) if (moving.playState === "running") faults.push(`${named(moving.effect.target)} moves`);
  return faults;
}
