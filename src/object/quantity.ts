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
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent, suffix] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  const scale = toScale(exponent, suffix);
  const numerator = digits * scale.numerator * NANO;
  const denominator = 10n ** BigInt(fraction.length) * scale.denominator;
  const magnitude = (numerator + denominator - 1n) / denominator;
  return { nanos: sign === '-' ? -magnitude : magnitude, format: scale.format };
}

interface Scale {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly format: Quantity['format'];
}

function toScale(exponent: string | undefined, suffix: string | undefined): Scale {
  if (exponent !== undefined) return power(Number(exponent.slice(1)), 'DecimalExponent');
  const text = suffix ?? '';
  if (text.endsWith('i')) {
    return { numerator: 1024n ** BigInt(BINARY.indexOf(text)), denominator: 1n, format: 'BinarySI' };
  }
  return power((DECIMAL.indexOf(text) - UNIT) * 3, 'DecimalSI');
}

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
  const { value, steps } = divideOut(nanos, 1000n, DECIMAL.length - 1);
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

/** Undefined when the text is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const found = canonical.get(text);
  if (found !== undefined) return found;
  const quantity = parseQuantity(text);
  if (quantity === undefined) return undefined;
  if (canonical.size >= MAX_KNOWN) canonical.clear();
  const formatted = formatQuantity(quantity);
  canonical.set(text, formatted);
  return formatted;
}
