import type { Minor } from './emulation.ts';
import { type GroupResource, toQualifiedResource } from './names.ts';

/** Status, the error (and sometimes success) answer of every verb. */

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** '': no reason was given. */
export type StatusReason =
  | ''
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable'
  | 'StorageReadError';

export interface StatusInit {
  readonly code: number;
  readonly reason: StatusReason;
  readonly message: string;
  readonly details?: StatusDetails;
  readonly continue?: string;
}

export interface LaterInit {
  readonly since: Minor;
  readonly init: StatusInit;
}

/** The one error that stages and verbs throw for a client to see. `cause` is for the log and never sent. */
export class StatusError extends Error {
  readonly status: Status;
  /** The error as versions since these have it, where it differs; the oldest first. */
  readonly later: readonly LaterInit[];

  constructor(init: StatusInit, options?: ErrorOptions, later: readonly LaterInit[] = []) {
    super(init.message, options);
    this.name = 'StatusError';
    this.status = toFailure(init);
    this.later = later;
  }

  /** The error in the words of the emulated version. */
  inVersion(minor: Minor): StatusError {
    const own = this.later.findLast(({ since }) => since <= minor);
    return own === undefined ? this : new StatusError(own.init, { cause: this.cause });
  }
}

function toFailure({ code, reason, message, details, continue: token }: StatusInit): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: token === undefined ? {} : { continue: token },
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** An error that validation finds in one field. `type` becomes the cause's reason (metav1.CauseType). */
export interface FieldError {
  readonly type:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueNotFound'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
    | 'InternalError';
  /** For example `spec.containers[0].image`. */
  readonly field: string;
  /** The text after the path, for example `Required value: must be specified`. */
  readonly message: string;
  /** The text since 1.32, where it has other words. */
  readonly messageSince132?: string;
  /** The text since 1.34, where it shows a value in another notation or has other words. */
  readonly messageSince134?: string;
  /** The text since 1.35, where it differs from that. */
  readonly messageSince135?: string;
}

const named = (resource: GroupResource, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(resource.group === '' ? {} : { group: resource.group }),
  kind: resource.resource,
});

export const notFound = (resource: GroupResource, name: string): StatusError =>
  new StatusError({
    code: 404,
    reason: 'NotFound',
    message: `${toQualifiedResource(resource)} "${name}" not found`,
    details: named(resource, name),
  });

export interface ExistingObject {
  /** Its deletion has begun, so that a later create succeeds. */
  readonly isEnding?: boolean;
  /** The create that meets it has a generateName. */
  readonly isGenerated?: boolean;
}

/** Controllers look for the text about the deletion, to try again. */
export const alreadyExists = (
  resource: GroupResource,
  name: string,
  { isEnding = false, isGenerated = false }: ExistingObject = {},
): StatusError => {
  const deletion = isEnding ? 'object is being deleted: ' : '';
  const generation = isGenerated ? ', the server was not able to generate a unique name for the object' : '';
  return new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${deletion}${toQualifiedResource(resource)} "${name}" already exists${generation}`,
    details: { ...named(resource, name), ...(isGenerated ? { retryAfterSeconds: 1 } : {}) },
  });
};

/** `why` is the text after the colon. */
export const conflict = (resource: GroupResource, name: string, why: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${toQualifiedResource(resource)} "${name}": ${why}`,
    details: named(resource, name),
  });

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

export const forbidden = (
  resource: GroupResource,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): StatusError => new StatusError(toForbidden(resource, name, why, causes));

/** Refused by an authorizer. The answer tells browsers not to guess its type, because it repeats words of the request. */
export class AccessDenied extends StatusError {
  constructor(resource: GroupResource, name: string, why: string) {
    super(toForbidden(resource, name, why));
  }
}

const toForbidden = (
  resource: GroupResource,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): StatusInit => ({
  code: 403,
  reason: 'Forbidden',
  message: `${forbiddenTarget(resource, name)}: ${why}`,
  details: {
    ...(isNone(resource) ? {} : named(resource, name)),
    ...(causes === undefined ? {} : { causes }),
  },
});

const isNone = ({ group, resource }: GroupResource): boolean => group === '' && resource === '';

function forbiddenTarget(resource: GroupResource, name: string): string {
  // A path such as /metrics has no resource.
  if (isNone(resource)) return 'forbidden';
  return `${toQualifiedResource(resource)}${name === '' ? '' : ` "${name}"`} is forbidden`;
}

/** Longer lists are unreadable. */
const MAX_SHOWN = 1000;

/** `kind` carries its group as `Kind.group`, or `Kind` alone in the core group. */
export function invalid(kind: ErroneousKind, name: string, errors: readonly FieldError[]): StatusError {
  const shown = errors.length > MAX_SHOWN ? errors.slice(0, MAX_SHOWN) : errors;
  const hasMore = errors.length > shown.length;
  const init = toInvalid(kind, name, { shown, hasMore });
  const later = LATER.filter(({ differs }) => shown.some(differs)).map(({ since, wordOf }) => {
    const newer = shown.map((error) => ({ ...error, message: wordOf(error) }));
    return { since, init: toInvalid(kind, name, { shown: newer, hasMore }) };
  });
  return new StatusError(init, undefined, later);
}

const since132 = ({ message, messageSince132 = message }: FieldError): string => messageSince132;
const since134 = (error: FieldError): string => error.messageSince134 ?? since132(error);

/** Versions that write some errors otherwise than those before. */
const LATER: readonly {
  readonly since: Minor;
  differs(error: FieldError): boolean;
  wordOf(error: FieldError): string;
}[] = [
  { since: 32, differs: (error) => error.messageSince132 !== undefined, wordOf: since132 },
  { since: 34, differs: (error) => error.messageSince134 !== undefined, wordOf: since134 },
  {
    since: 35,
    differs: (error) => error.messageSince135 !== undefined,
    wordOf: (error) => error.messageSince135 ?? since134(error),
  },
];

interface ErroneousKind {
  readonly kind: string;
  readonly group: string;
}

function toInvalid(
  kind: ErroneousKind,
  name: string,
  { shown, hasMore }: { readonly shown: readonly FieldError[]; readonly hasMore: boolean },
): StatusInit {
  // Repeated messages appear once; as causes, all of them count (util/errors, Aggregate).
  const texts = [...new Set(shown.map((error) => `${error.field}: ${error.message}`))];
  if (hasMore) texts.push('and more');
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const qualified = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return {
    code: 422,
    reason: 'Invalid',
    message: `${qualified} "${name}" is invalid: ${list}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      causes: shown.map(({ type, field, message }) => ({
        reason: type,
        message,
        field,
      })),
    },
  };
}

export const badRequest = (message: string): StatusError =>
  new StatusError({ code: 400, reason: 'BadRequest', message });

export const methodNotAllowed = (
  message = 'the server does not allow this method on the requested resource',
): StatusError =>
  new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message,
    details: {},
  });

export const pathNotFound = (): StatusError =>
  new StatusError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });

export const unauthorized = (): StatusError =>
  new StatusError({
    code: 401,
    reason: 'Unauthorized',
    message: 'Unauthorized',
  });

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError({
    code: 429,
    reason: 'TooManyRequests',
    message,
    details: { retryAfterSeconds },
  });

export const internalError = (message: string, cause?: unknown): StatusError =>
  new StatusError(
    {
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    },
    { cause },
  );

/** A 500 for an error beyond this server, with its message (Kubernetes: an error that is no Status). */
export const unknownError = (message: string, cause?: unknown): StatusError =>
  new StatusError({ code: 500, reason: '', message }, { cause });

export const serviceUnavailable = (message: string, cause?: unknown): StatusError =>
  new StatusError({ code: 503, reason: 'ServiceUnavailable', message }, { cause });

/** The request took longer than it may (Kubernetes: apiserver, server/filters/timeout.go). */
export const timedOut = (): StatusError =>
  new StatusError({
    code: 504,
    reason: 'Timeout',
    message: 'Timeout: request did not complete within the allotted timeout',
    details: {},
  });
