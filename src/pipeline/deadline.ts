import { badRequest, StatusError } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { isLongRunning } from '../request/long-running.ts';
import { parseDuration } from '../util/duration.ts';

/**
 * --request-timeout, or less if the caller's `timeout` says so: whoever waits longer is told so; what was under way is
 * finished and its answer dropped. @throws StatusError 504, 400
 */
export function withDeadline(
  { requestTimeoutMs }: { readonly requestTimeoutMs: number },
  request: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  if (isLongRunning(request)) return next();
  const timeoutMs = chooseTimeout(request, requestTimeoutMs);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs);
    next().then(
      (response) => {
        clearTimeout(timer);
        resolve(response);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** A caller may ask for less than the server gives, not for more; 0 asks for nothing. */
function chooseTimeout({ query }: ApiRequest, longestMs: number): number {
  const asked = query.get('timeout');
  if (asked === null || asked === '') return longestMs;
  const askedMs = asked.startsWith('-') ? 0 : parseDuration(asked);
  if (askedMs === undefined)
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(asked)}`,
    );
  return askedMs > 0 && askedMs < longestMs ? askedMs : longestMs;
}

function timedOut(timeoutMs: number): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: request did not complete within ${timeoutMs / 1000}s`,
  });
}
