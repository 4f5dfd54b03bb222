import type { Environment } from '@marcbachmann/cel-js';
import { Duration, type UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { spendOnSize } from '../budget.ts';
import { durationText, formatText, timestampText } from './format-text.ts';
import { charAt, quote, replace } from './text-functions.ts';

/** The namespace in `strings.quote(…)`. */
class Strings {}

const TIMESTAMP = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';

/** Functions of texts and conversions that the library lacks (cel-go: ext/strings, standard library). */
export const registerTexts = (environment: Environment): Environment =>
  environment
    .registerType('kubernetes.Strings', Strings)
    .registerConstant('strings', 'kubernetes.Strings', new Strings())
    .registerFunction('kubernetes.Strings.quote(string): string', (_: Strings, text: string) => quote(text))
    .registerFunction('string.charAt(int): string', charAt)
    .registerFunction('string.replace(string, string): string', replace)
    .registerFunction('string.replace(string, string, int): string', replace)
    .registerFunction('string.format(list): string', formatText)
    .registerFunction(`string(${TIMESTAMP}): string`, timestampText)
    .registerFunction(`string(${DURATION}): string`, durationText)
    .registerFunction(`timestamp(${TIMESTAMP}): ${TIMESTAMP}`, (date: Date) => date)
    .registerFunction(`duration(${DURATION}): ${DURATION}`, (duration: Duration) => duration)
    .registerFunction(`duration(int): ${DURATION}`, (nanos: bigint) => {
      return new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
    })
    .registerFunction('int(uint): int', intOf)
    .registerOperator('bytes < bytes: bool', (a: Uint8Array, b: Uint8Array) => orderOf(a, b) < 0)
    .registerOperator('bytes <= bytes: bool', (a: Uint8Array, b: Uint8Array) => orderOf(a, b) <= 0)
    .registerOperator('bytes > bytes: bool', (a: Uint8Array, b: Uint8Array) => orderOf(a, b) > 0)
    .registerOperator('bytes >= bytes: bool', (a: Uint8Array, b: Uint8Array) => orderOf(a, b) >= 0)
    .registerFunction(`int(${TIMESTAMP}): int`, (date: Date) => BigInt(Math.floor(date.getTime() / 1000)))
    .registerFunction(`int(${DURATION}): int`, ({ seconds, nanos }: Duration) => {
      return BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
    });

/** @throws Error when the number takes more than 63 bits */
function intOf(value: UnsignedInt): bigint {
  const whole = BigInt(value.valueOf());
  if (whole >= 1n << 63n) throw new Error('integer overflow');
  return whole;
}

function orderOf(a: Uint8Array, b: Uint8Array): number {
  spendOnSize(Math.min(a.length, b.length));
  return Buffer.compare(a, b);
}
