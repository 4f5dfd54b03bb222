import { badRequest } from '../api/status.ts';
import { parseDuration } from '../util/duration.ts';
import type { ApiRequest } from './api-request.ts';

/** A caller may reduce the time limit, not raise it; 0 has no effect. @throws StatusError 400 */
export function chooseTimeout({ query }: Pick<ApiRequest, 'query'>, longestMs: number): number {
  const asked = query.get('timeout');
  if (asked === null || asked === '') return longestMs;
  const askedMs = asked.startsWith('-') ? 0 : parseDuration(asked);
  if (askedMs === undefined)
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(asked)}`,
    );
  return askedMs > 0 && askedMs < longestMs ? askedMs : longestMs;
}
