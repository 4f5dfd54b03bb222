/** Outside of these there is an exponent. */
const MIN_PLAIN_EXPONENT = -4;
const MAX_PLAIN_EXPONENT = 5;

/** A finite number as Go's strconv.FormatFloat(value, 'g', -1, 64) writes it: 0.5, 1.5e-07, 1e+20. */
export function goFloat(value: number): string {
  if (Object.is(value, -0)) return '-0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= MIN_PLAIN_EXPONENT && power <= MAX_PLAIN_EXPONENT) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
