// Words that stand in several places.

// Whether an attack reaches a bound, or it is only proven that none gets past it.
export const CERTAINTY = { exact: "exact: some attacker gets this far, none further", proven: "proven: no attacker gets further" };
// An answer from a curve that errs on the safe side; the one that is computed for the very ε comes after it.
export const READ_OFF = "safe answer, read off a curve; the final one follows";

// Somebody's true values: east = 20, north = 30.
export const truth = (at) => Object.entries(at || {}).map(([column, value]) => `${column} = ${typeof value === "number" ? Number(value.toPrecision(5)) : value}`).join(", ");
