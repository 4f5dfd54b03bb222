/**
 * Quantities such as `500m`, `2Gi` and `1e3` (apimachinery, api/resource). Kept exactly, in billionths; finer parts are
 * rounded up, as Kubernetes does.
 *
 *   canonicalQuantity('1000m') → '1'       canonicalQuantity('0.5')   → '500m'
 *   canonicalQuantity('1024Mi') → '1Gi'    canonicalQuantity('1.5Gi') → '1536Mi'
 */
export interface Quantity {
  /** The value times 10^9. */
  readonly nanos: bigint;
  readonly format: 'DecimalSI' | 'BinarySI' | 'DecimalExponent';
}

const NANO = 1_000_000_000n;
/** The greatest quantity in powers of 1024; in powers of ten there is none. */
const MAX_BINARY = (2n ** 63n - 1n) * NANO;
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Index of the empty suffix in DECIMAL. */
const UNIT = 3;
/** Longer numbers are no real quantities; bounds the work for hostile input. */
const MAX_CHARS = 64;

/** Objects repeat few quantities, and a cached one takes a hundredth of the time. */
const known = new Map<string, Quantity | undefined>();
const MAX_KNOWN = 4096;

export function parseQuantity(text: string): Quantity | undefined {
  if (text.length > MAX_CHARS) return undefined;
  let quantity = known.get(text);
  if (quantity !== undefined || known.has(text)) return quantity;
  quantity = parse(text);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(text, quantity);
  return quantity;
}

function parse(text: string): Quantity | undefined {
  const parts = split(text);
  const scale = parts === undefined ? undefined : toScale(parts.suffix);
  if (parts === undefined || scale === undefined) return undefined;
  const { isNegative, whole, fraction } = parts;
  const numerator = BigInt(whole + fraction) * scale.numerator * NANO;
  const denominator = 10n ** BigInt(fraction.length) * scale.denominator;
  let magnitude = (numerator + denominator - 1n) / denominator;
  if (scale.format === 'BinarySI' && magnitude > MAX_BINARY) magnitude = MAX_BINARY;
  return { nanos: isNegative ? -magnitude : magnitude, format: scale.format };
}

interface Parts {
  readonly isNegative: boolean;
  /** Without zeros before it; `0` where nothing else is left. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

/** A sign, a point or a suffix alone is zero (parseQuantityString). For short texts: the time grows with the square of the digits. */
const PARTS = /^([+-]?)0*(?!0)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;

function split(text: string): Parts | undefined {
  const [, sign, whole, fraction = '', suffix = ''] = text === '' ? [] : (PARTS.exec(text) ?? []);
  if (sign === undefined) return undefined;
  return { isNegative: sign === '-', whole: whole || '0', fraction, suffix };
}

/** Why a text is no quantity. */
export const quantityProblem = (text: string): string =>
  text.length > MAX_CHARS || split(text) === undefined
    ? "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    : "unable to parse quantity's suffix";

interface Scale {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly format: Quantity['format'];
}

function toScale(suffix: string): Scale | undefined {
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return power((decimal - UNIT) * 3, 'DecimalSI');
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { numerator: 1024n ** BigInt(binary), denominator: 1n, format: 'BinarySI' };
  return EXPONENT.test(suffix) ? power(Number(suffix.slice(1)), 'DecimalExponent') : undefined;
}

/** Three digits, which bounds the work. */
const EXPONENT = /^[eE][+-]?0*[0-9]{1,3}$/;

function power(exponent: number, format: Quantity['format']): Scale {
  const size = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0
    ? { numerator: 1n, denominator: size, format }
    : { numerator: size, denominator: 1n, format };
}

export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  const small = nanos < 1024n * NANO && nanos > -1024n * NANO;
  if (format === 'BinarySI' && !small && nanos % NANO === 0n) {
    const { value, steps } = divideOut(nanos / NANO, 1024n, BINARY.length - 1);
    return `${value}${BINARY[steps]}`;
  }
  const most = format === 'DecimalExponent' ? Number.POSITIVE_INFINITY : DECIMAL.length - 1;
  const { value, steps } = divideOut(nanos, 1000n, most);
  if (format !== 'DecimalExponent') return `${value}${DECIMAL[steps]}`;
  return steps === UNIT ? `${value}` : `${value}e${(steps - UNIT) * 3}`;
}

function divideOut(value: bigint, base: bigint, most: number): { value: bigint; steps: number } {
  let steps = 0;
  let rest = value;
  while (steps < most && rest % base === 0n) {
    rest /= base;
    steps += 1;
  }
  return { value: rest, steps };
}

const canonical = new Map<string, string>();

/**
 * Whether Kubernetes answers a quantity as it was written: it takes a text for canonical by rough rules (ParseQuantity), which `1E3`,
 * `+1`, `5.` and `1.500` pass. Only texts of few digits are looked at.
 */
function staysAsItIs(text: string, { format }: Quantity): boolean {
  const { whole, fraction, suffix } = split(text) ?? NO_PARTS;
  const digits = whole + fraction;
  if (format === 'BinarySI') {
    const most = 14 - 3 * BINARY.indexOf(suffix);
    return fraction === '' && whole.length <= most && BigInt(whole) % 8n !== 0n;
  }
  const exponent = format === 'DecimalSI' ? (DECIMAL.indexOf(suffix) - UNIT) * 3 : Number(suffix.slice(1));
  const scale = exponent - fraction.length;
  if (digits.length > MAX_DIGITS || scale < -9 || scale % 3 !== 0) return false;
  return !digits.startsWith('0') && !digits.endsWith('000');
}

const NO_PARTS: Parts = { isNegative: false, whole: '0', fraction: '', suffix: '' };
/** All numbers of as many digits fit into 63 bits. */
const MAX_DIGITS = 18;

/** Undefined when the text is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const found = canonical.get(text);
  if (found !== undefined) return found;
  const quantity = parseQuantity(text);
  if (quantity === undefined) return undefined;
  if (canonical.size >= MAX_KNOWN) canonical.clear();
  const formatted = staysAsItIs(text, quantity) ? text : formatQuantity(quantity);
  canonical.set(text, formatted);
  return formatted;
}
