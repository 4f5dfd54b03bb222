import { internalError, StatusError } from '../api/status.ts';
import type { Auditor, RequestAudit } from '../audit/auditor.ts';
import { recordVerdict } from '../audit/verdict.ts';
import type { Verdict } from '../authz/authorizer.ts';
import type { ApiRequest, AuthenticatedRequest } from '../request/api-request.ts';
import type { ApiResponse, BytesResponse, StreamResponse, TunnelResponse } from '../request/api-response.ts';

interface AuditOptions {
  readonly auditor: Auditor | undefined;
}

/** Records the stages of a request. @throws StatusError 500 when the request must be recorded and cannot be */
export function audit(
  { auditor }: AuditOptions,
  request: AuthenticatedRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  return auditor === undefined ? next() : record(auditor, request, next);
}

async function record(
  auditor: Auditor,
  request: AuthenticatedRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const trail = auditor.begin(request);
  if (trail === undefined) return next();
  if (!(await trail.stage('RequestReceived'))) {
    auditor.rejected();
    throw internalError('failed to store audit event');
  }
  request.audit = trail;
  const response = await recordFailure(trail, next);
  switch (response.kind) {
    case 'stream':
      return recordStream(trail, response);
    case 'tunnel':
      return recordTunnel(trail, response);
    case 'bytes':
      return await recordBytes(trail, response);
    default:
      return response satisfies never;
  }
}

async function recordBytes(trail: RequestAudit, response: BytesResponse): Promise<BytesResponse> {
  const sent = trail.answered(response);
  await trail.stage('ResponseComplete');
  return sent;
}

async function recordFailure<T>(trail: RequestAudit, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await trail.failed(error);
    throw error;
  }
}

/** A stream starts when its head is sent; the head does not wait for the record. */
function recordStream(trail: RequestAudit, response: StreamResponse): StreamResponse {
  return {
    ...response,
    run: async (outlet) => {
      let started: Promise<boolean> | boolean | undefined;
      const start = (): void => {
        if (started !== undefined) return;
        trail.status({ code: response.code });
        started = trail.stage('ResponseStarted');
      };
      await recordFailure(trail, () =>
        response.run({
          open: () => {
            start();
            outlet.open();
          },
          write: (frame) => {
            start();
            return outlet.write(frame);
          },
          drained: () => outlet.drained(),
        }),
      );
      start();
      await started;
      await trail.stage('ResponseComplete');
    },
  };
}

function recordTunnel(trail: RequestAudit, response: TunnelResponse): TunnelResponse {
  return {
    ...response,
    run: async (client) => {
      trail.status({ code: response.code });
      const started = trail.stage('ResponseStarted');
      await recordFailure(trail, () => response.run(client));
      await started;
      await trail.stage('ResponseComplete');
    },
  };
}

/** Records callers that could not be authenticated. The next stage records all others. */
export function auditAuthentication<T>(
  { auditor }: AuditOptions,
  request: ApiRequest,
  authenticate: () => Promise<T>,
): Promise<T> {
  if (auditor === undefined) return authenticate();
  return authenticate().catch(async (error: unknown) => {
    const trail = auditor.begin(request);
    if (error instanceof StatusError) await trail?.failed(error, 'ResponseStarted');
    else {
      trail?.status({ message: describeAttempt(request), code: 500 });
      await trail?.stage('ResponseStarted');
    }
    throw error;
  });
}

/** Names the kinds of credentials that were tried, never their contents. */
function describeAttempt({ headers, peerCertificate }: ApiRequest): string {
  const scheme = /^\s*(basic|bearer)\s/i.exec(headers.authorization ?? '')?.[1]?.toLowerCase();
  const tried = [
    ...(scheme === undefined ? [] : [scheme]),
    ...(peerCertificate === undefined ? [] : ['x509']),
  ];
  return tried.length === 0
    ? 'Authentication failed, no credentials provided'
    : `Authentication failed, attempted: ${tried.join(', ')}`;
}

/** Adds the decision of authorization and its reason to the event. */
export function annotateVerdict({ audit: trail }: AuthenticatedRequest, verdict: Verdict): void {
  if (trail !== undefined) recordVerdict(trail, verdict);
}
