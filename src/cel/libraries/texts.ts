import type { Environment } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { durationText, formatText, timestampText } from './format-text.ts';

/** What stands before the dot in `strings.quote(…)`. */
class Strings {}

const TIMESTAMP = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';

/** Functions of texts and conversions between types that the library does not have (cel-go: ext/strings, standard library). */
export const registerTexts = (environment: Environment): Environment =>
  environment
    .registerType('kubernetes.Strings', Strings)
    .registerConstant('strings', 'kubernetes.Strings', new Strings())
    .registerFunction('kubernetes.Strings.quote(string): string', (_: Strings, text: string) =>
      JSON.stringify(text),
    )
    .registerFunction('string.format(list): string', formatText)
    .registerFunction(`string(${TIMESTAMP}): string`, timestampText)
    .registerFunction(`string(${DURATION}): string`, durationText)
    .registerFunction(`timestamp(${TIMESTAMP}): ${TIMESTAMP}`, (date: Date) => date)
    .registerFunction(`duration(${DURATION}): ${DURATION}`, (duration: Duration) => duration)
    .registerFunction(`duration(int): ${DURATION}`, (nanos: bigint) => {
      return new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
    })
    .registerFunction(`int(${TIMESTAMP}): int`, (date: Date) => BigInt(Math.floor(date.getTime() / 1000)))
    .registerFunction(`int(${DURATION}): int`, ({ seconds, nanos }: Duration) => {
      return BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
    });
