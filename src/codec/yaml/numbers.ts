/** Numbers as Kubernetes writes them into YAML. */

const MIN_INTEGER = -(2 ** 63);
/** Not included. */
const MAX_INTEGER = 2 ** 64;

export function toYamlNumber(value: number | bigint): string {
  if (value >= MIN_INTEGER && value < MAX_INTEGER) {
    if (typeof value === 'bigint') return value.toString();
    // Digits down to the last one, as JSON has them too.
    if (Number.isInteger(value)) return JSON.stringify(value);
  }
  return toGoFloat(Number(value));
}

/** Outside of these there is an exponent. */
const MIN_PLAIN_EXPONENT = -4;
const MAX_PLAIN_EXPONENT = 5;

/** strconv.FormatFloat(value, 'g', -1, 64): 0.5, 1.5e-07, 1e+20. */
function toGoFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= MIN_PLAIN_EXPONENT && power <= MAX_PLAIN_EXPONENT) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
