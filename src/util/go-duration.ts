const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration as Go writes it, to the microsecond: `2h0m0s`, `1.25s`, `503.2ms`, `12µs`, `-2ms`. */
export function goDuration(ms: number): string {
  const micros = Math.round(ms * 1000);
  const sign = micros < 0 ? '-' : '';
  const size = Math.abs(micros) / 1000;
  if (size === 0) return '0s';
  if (size < 1) return `${sign}${Math.abs(micros)}µs`;
  if (size < SECOND_MS) return `${sign}${size}ms`;
  const hours = Math.floor(size / HOUR_MS);
  const minutes = Math.floor((size % HOUR_MS) / MINUTE_MS);
  const seconds = `${Math.round((size % MINUTE_MS) * 1000) / 1_000_000}s`;
  if (size < MINUTE_MS) return `${sign}${seconds}`;
  return `${sign}${hours === 0 ? '' : `${hours}h`}${minutes}m${seconds}`;
}
