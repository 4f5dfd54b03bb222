import type { TypeLibrary } from '../../api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { badRequest, StatusError, type StatusReason } from '../../api/status.ts';
import type { AdmissionReview } from '../../api/types/admission/v1.ts';
import type { Status } from '../../api/types/meta/v1.ts';
import { isObject } from '../../object/json-values.ts';
import type { ActiveSpan, Tracing } from '../../observability/tracing.ts';
import { networkText } from '../../outbound/http-client.ts';
import { type Answer, AnswerTimeout } from '../../outbound/webhook-client.ts';
import { errorText } from '../../util/error-text.ts';
import { NEVER } from '../../util/pause.ts';
import type { AdmissionAttributes } from '../admission.ts';
import {
  createReview,
  decodeReview,
  type ReviewVersion,
  reviewVersionOf,
  type SeenObjects,
  toVerdict,
  type Verdict,
} from './admission-review.ts';
import { urlOf, type WebhookClients } from './clients.ts';
import type { Candidate, Webhook } from './webhook.ts';

/** A webhook could not be called, or its answer is invalid; failurePolicy decides about the write. */
export class CallError extends Error {
  /** For metrics: that of the answer, or what stands for none. */
  readonly code: number;

  constructor(
    webhook: Pick<Webhook, 'name'>,
    why: string,
    { code = NO_ANSWER, ...options }: CallErrorOptions = {},
  ) {
    super(`failed calling webhook ${JSON.stringify(webhook.name)}: ${why}`, options);
    this.name = 'CallError';
    this.code = code;
  }
}

interface CallErrorOptions extends ErrorOptions {
  readonly code?: number;
}

const NO_ANSWER = 400;
const INVALID_ANSWER = 503;

/** A webhook refuses the write. */
export class WebhookRefusal extends Error {
  readonly refusal: StatusError;

  constructor(refusal: StatusError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

interface Callee {
  readonly clients: WebhookClients;
  readonly types: TypeLibrary;
  readonly tracing: Tracing;
  readonly mutating: boolean;
}

/** Uses the answer of a webhook that lets the write pass, as a part of the call. */
export type Take<Result> = (verdict: Verdict, span: ActiveSpan) => Promise<Result> | Result;

/** A longer answer is an error. The same bound holds for requests. */
const MAX_ANSWER_BYTES = 3 * 1024 * 1024;

/**
 * Calls a webhook and passes on its warnings and audit annotations. Messages and spans are Kubernetes'
 * (admission/plugin/webhook/{mutating,validating}).
 * @throws CallError
 * @throws WebhookRefusal
 * @throws StatusError when the webhook must not be called in a dry run, or `take` does
 */
export async function callWebhook<Result>(
  callee: Callee,
  attributes: AdmissionAttributes,
  asked: { readonly candidate: Candidate; readonly objects: SeenObjects },
  take: Take<Result>,
): Promise<Result> {
  const { webhook } = asked.candidate;
  if (attributes.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun')
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  const version = failing(webhook, 'could not create admission objects', () =>
    reviewVersionOf(webhook.reviewVersions),
  );
  const { uid, review } = createReview(version, attributes, asked);
  const name = `Call ${callee.mutating ? 'mutating' : 'validating'} webhook`;
  return callee.tracing.part(name, spanOf(attributes, asked.candidate, uid), async (span) => {
    const answer = await timed(callee, attributes, () =>
      post(callee, webhook, {
        ...{ review, version },
        caller: attributes.caller,
        traceparent: span.traceparent,
      }),
    );
    span.event('Request completed');
    const verdict = failing(
      webhook,
      'received invalid webhook response',
      () => toVerdict(answer, { version, uid, mutating: callee.mutating }),
      INVALID_ANSWER,
    );
    for (const [key, value] of Object.entries(verdict.auditAnnotations))
      attributes.annotate(`${webhook.name}/${key}`, value);
    for (const warning of verdict.warnings) attributes.warn(warning);
    if (!verdict.allowed) throw new WebhookRefusal(toRefusal(webhook, verdict.status));
    return take(verdict, span);
  });
}

function spanOf(
  { subresource, operation }: AdmissionAttributes,
  { webhook, served: { definition, version } }: Candidate,
  uid: string,
): Readonly<Record<string, string>> {
  return {
    configuration: webhook.configuration,
    webhook: webhook.name,
    resource: `${definition.group}/${version.version}, Resource=${definition.resource}`,
    subresource,
    operation,
    UID: uid,
  };
}

/** Mutating webhooks are waited for one after the other, validating ones at the same time. */
async function timed<Result>(
  { mutating }: Callee,
  { waits }: AdmissionAttributes,
  call: () => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  try {
    return await call();
  } finally {
    const ms = performance.now() - begun;
    if (waits !== undefined && mutating) waits.mutatingWebhooks += ms;
    else if (waits !== undefined) waits.validatingWebhooks = Math.max(waits.validatingWebhooks, ms);
  }
}

function failing<Result>(webhook: Webhook, what: string, work: () => Result, code = NO_ANSWER): Result {
  try {
    return work();
  } catch (error) {
    throw new CallError(webhook, `${what}: ${errorText(error)}`, { cause: error, code });
  }
}

interface Question {
  readonly review: JsonObject;
  readonly version: ReviewVersion;
  readonly caller: AdmissionAttributes['caller'];
  readonly traceparent: string | undefined;
}

async function post(
  { clients, types }: Pick<Callee, 'clients' | 'types'>,
  webhook: Webhook,
  { review, version, caller, traceparent }: Question,
): Promise<AdmissionReview> {
  const query = `timeout=${secondsLeft(webhook, caller)}s`;
  let answer: Answer;
  try {
    answer = await clients.find(webhook.client).post(Buffer.from(JSON.stringify(review)), {
      timeoutMs: webhook.timeoutMs,
      signal: caller?.signal ?? NEVER,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      query,
      traceparent,
    });
  } catch (error) {
    const url = urlOf(webhook.client);
    const why = `failed to call webhook: Post "${url}?${query}": ${transportText(error, url)}`;
    throw new CallError(webhook, why, { cause: error });
  }
  const problem = answerProblem(answer);
  if (problem !== undefined)
    throw new CallError(webhook, `failed to call webhook: ${problem}`, { code: answer.code });
  return failing(webhook, 'failed to call webhook', () => decodeReview(answer.body, version, types));
}

/** The time for an answer: the webhook's own, or the rest of the request's where that is shorter, rounded up to a second. */
function secondsLeft({ timeoutMs }: Webhook, caller: AdmissionAttributes['caller']): number {
  const leftMs = (caller?.deadlineMs ?? Number.POSITIVE_INFINITY) - Date.now();
  return Math.ceil(Math.max(1, Math.min(timeoutMs, leftMs)) / 1000);
}

/** Why no answer came, in the words of Go's client. */
export function transportText(error: unknown, url: string): string {
  if (error instanceof AnswerTimeout) return 'context deadline exceeded';
  if (!(error instanceof Error)) return String(error);
  const { hostname, host, port } = new URL(url);
  const address = 'address' in error ? error.address : undefined;
  const dialed = 'port' in error ? error.port : undefined;
  const authority = typeof address === 'string' ? `${address}:${dialed}` : port === '' ? `${host}:443` : host;
  return networkText(error, { host: hostname, authority });
}

const LEAST_FAILURE = 400;

/** The webhook's status, with the name of the webhook in front of its message (admission/plugin/webhook/errors). */
export function toRefusal({ name }: Webhook, status: Status = {}): StatusError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const { message = '', reason = '', code = 0, details } = status;
  const why = message || reason;
  return new StatusError({
    code: Math.max(code, LEAST_FAILURE),
    // A webhook may send any word; clients know some of them.
    reason: reason as StatusReason,
    message: why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    ...(details === undefined ? {} : { details }),
  });
}

/** Kubernetes' texts for answers that are no success (apimachinery/pkg/api/errors, NewGenericServerResponse). */
const TEXTS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Codes whose message includes the other server's text. */
const QUOTED: ReadonlySet<number> = new Set([403, 406, 415]);

/** Undefined: the answer is a success. */
export function answerProblem({ code, body, contentType }: Answer): string | undefined {
  if (code >= 200 && code <= 206) return undefined;
  const message = statusMessage(body);
  if (message !== undefined) return message;
  const isText = contentType === '' || contentType.startsWith('text/');
  const said = isText ? body.toString('utf8').trim() : 'unknown';
  if (QUOTED.has(code)) return said;
  const known = TEXTS[code];
  if (known !== undefined) return known;
  return code >= 500
    ? `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${code} but did not return more information`;
}

/** The message of a body that is a Status. */
function statusMessage(body: Buffer): string | undefined {
  try {
    const value: JsonValue = JSON.parse(body.toString('utf8'));
    const isStatus = isObject(value) && value.kind === 'Status' && typeof value.message === 'string';
    return isStatus ? String(value.message) : undefined;
  } catch {
    return undefined;
  }
}
