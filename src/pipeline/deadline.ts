import { timedOut } from '../api/status.ts';
import type { Logger } from '../observability/logger.ts';
import { type ApiRequest, isLongRunning } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { chooseTimeout } from '../request/timeout.ts';

/**
 * Enforces --request-timeout, or the caller's shorter `timeout`: a request that takes longer gets 504, and its work stops. A
 * write that was sent to the database cannot be cancelled; a warning says so. @throws StatusError 504, 400
 */
export function withDeadline(
  { requestTimeoutMs, logger }: { readonly requestTimeoutMs: number; readonly logger: Logger },
  request: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  if (isLongRunning(request)) return next();
  const timeoutMs = chooseTimeout(request, requestTimeoutMs);
  request.deadlineMs = Date.now() + timeoutMs;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (WRITING.has(request.verb)) request.warn(PERHAPS);
      const late = timedOut();
      logger.error(`${request.method} ${request.path}: ${late.message}`);
      // First the 504: aborting the work would otherwise give the answer.
      reject(late);
      request.expire();
    }, timeoutMs);
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

const WRITING: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

const PERHAPS = 'the time was up while the request was being served: what it asked for may have been done';
