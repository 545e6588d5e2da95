// Numbers for people, and sliders that go by ratios.

export const percent = (value, digits = 3) => `${Number((100 * value).toPrecision(digits))} %`;

export function odds(value) {
  for (const base of [100, 1000, 10000, 100000]) if (value * base >= 1) return `${Math.round(value * base)} in ${base.toLocaleString("en")}`;
  return "fewer than 1 in a million";
}

// 0 … 1000 on a slider, `low` … `high` in the plan, evenly in the logarithm.
export const toSlider = (value, low, high) => Math.round(1000 * Math.log(Math.min(Math.max(value, low), high) / low) / Math.log(high / low));
export const fromSlider = (place, low, high, digits = 3) => Number((low * (high / low) ** (place / 1000)).toPrecision(digits));
export const number = (text) => (text === "" || !Number.isFinite(Number(text)) ? undefined : Number(text));
