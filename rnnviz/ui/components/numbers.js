// Numbers as people read them, in charts and in cells alike.

const RAISED = { "-": "⁻", "−": "⁻", ".": "·", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
export const raised = (exponent) => String(exponent).replace(/[-−.\d]/g, (mark) => RAISED[mark]);

// Three significant digits: 0.0061, −2.18, 6,700, 2.8·10⁻⁵.
export function digits(value) {
  if (Number.isNaN(value)) return "not known";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "minus infinity";
  if (value === 0) return "0";
  const [mantissa, power] = Math.abs(value).toExponential(2).split("e");
  const sign = value < 0 ? "−" : "";
  if (power < -3 || power >= 5) return `${sign}${Number(mantissa)}·10${raised(Number(power))}`;
  const text = String(Number(`${mantissa}e${power}`));
  return sign + (power >= 3 ? text.replace(/\B(?=(\d{3})+$)/, ",") : text);
}

// The same of a value whose coordinate is its decimal logarithm: no range of floats limits it.
export function power(exponent) {
  if (Number.isNaN(exponent)) return "not known";
  if (!Number.isFinite(exponent)) return exponent < 0 ? "0" : "infinite";
  if (exponent > -3 && exponent < 4) return digits(10 ** exponent);
  const whole = Math.floor(exponent + 1e-9);
  const mantissa = (10 ** (exponent - whole)).toPrecision(2);
  if (mantissa === "10") return `10${raised(whole + 1)}`;
  return mantissa === "1.0" ? `10${raised(whole)}` : `${Number(mantissa)}·10${raised(whole)}`;
}
