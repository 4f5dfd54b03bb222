import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dialect } from '../api/dialect.ts';
import type { Waits } from './waits.ts';

/** The verbs of resource requests, as authorization, audit and metrics name them. */
export type ResourceVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'connect';

/** A path below /api or /apis that names a resource type. The group is canonical (api/dialect.ts). '' means absent. */
export interface ResourceTarget {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** The path behind the subresource (proxies only), without a leading slash. */
  readonly subpath: string;
}

/** A peer certificate that the TLS layer received; it is trusted only after authn has verified its chain. */
export interface PeerCertificate {
  /** DER, leaf first. */
  readonly chain: readonly Buffer[];
}

/** A request as it was received, for proxies. */
export interface RawRequest {
  /** Names and values in turn, in the sender's spelling and order. A stage may have taken a name out of `headers`. */
  readonly headers: readonly string[];
  /** Path and query, still escaped. */
  readonly url: string;
  /** Use either this or {@link ApiRequest.body}. Undefined: the request has no body. */
  readonly body: Readable | undefined;
  /** The protocol that the client wants to change to, in lower case: `websocket`, `spdy/3.1`. '' for none. */
  readonly upgrade: string;
}

/**
 * One request, independent of its transport. Its type shows which stages it has passed: a stage takes one type and returns the
 * next, so that verbs can only be called with authorized requests.
 */
export interface ApiRequest {
  /** Audit id: answered as `Audit-Id` and kept on the revision's row. */
  readonly id: string;
  /** HTTP method in upper case. */
  readonly method: string;
  /** Decoded path without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** For resource requests one of {@link ResourceVerb}, else the HTTP method in lower case. */
  readonly verb: string;
  /** Undefined for a non-resource path such as /version. */
  readonly target: ResourceTarget | undefined;
  /** The dialect of the path; `k8s.io` where the path has none. */
  readonly dialect: Dialect;
  readonly sourceAddress: string;
  readonly userAgent: string;
  readonly peerCertificate: PeerCertificate | undefined;
  readonly receivedAt: Date;
  /** Set by the audit stage for a request that is recorded. */
  audit?: AuditTrail | undefined;
  /** Whether bodies may be CBOR (the feature CBORServingAndStorage). Set by the pipeline; absent: no. */
  knowsCbor?: boolean;
  /** Aborts when the client goes away or the request's time is up. Created on first use. */
  readonly signal: AbortSignal;
  /** Whether the signal has aborted; reading this does not create the signal. */
  readonly aborted: boolean;
  /** When the time of the request is up, as Date.now() counts. Set by the deadline stage; absent: never. */
  deadlineMs?: number;
  /** Stops the work for a request whose time is up; it may still be answered. To be called by the deadline stage alone. */
  expire(): void;
  /**
   * The whole body, decompressed.
   * @throws StatusError 413 when the body is larger than `limitBytes`, 400 when the client broke off
   */
  body(limitBytes: number): Promise<Buffer>;
  /** Bytes of the body that have been received. */
  readonly receivedBytes: number;
  /** For proxies, which pass the request on to another server. */
  readonly raw: RawRequest;
  /** How long the request waited for others until now. */
  readonly waits: Waits;
  /** Adds a Warning header to the response, once a text. To be called before the response is returned. */
  warn(text: string): void;
  /** Adds a header to the response, of any kind. To be called before the response is returned. */
  addHeader(name: string, value: string): void;
}

/** The part of a request by which work can stop early. Work without a caller always completes. */
export type Caller = Pick<ApiRequest, 'signal' | 'aborted' | 'deadlineMs'>;

export interface UserInfo {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Collects facts about a request for its audit events. */
export interface AuditTrail {
  /**
   * The object in the body as the verb understood it. It completes the reference where the path does not. It is copied at once
   * if it is to be recorded, and may be changed afterwards.
   */
  requestObject(value: unknown): void;
  /** A body that is no object, such as a patch or options. It does not complete the reference. */
  requestBody(value: unknown): void;
  /** The request is served as if this user had sent it. `constraint`: the verb that allowed it where a constrained one did. */
  impersonated(user: UserInfo, constraint?: string): void;
  /**
   * The answer shows what the object was. Its own rule decides, as for a `get`, whether the answer may be recorded: a rule that
   * keeps Secrets out of the record holds for what history shows of them too.
   */
  shows(target: ResourceTarget): void;
  /** Belongs to the level, Metadata when none is given. The first value of a key stays. */
  annotate(key: string, value: string, level?: 'Request'): void;
}

export interface AuthenticatedRequest extends ApiRequest {
  /** The user in whose name the request acts. */
  readonly user: UserInfo;
  /** The sender, when the request acts in another user's name. */
  readonly impersonator?: UserInfo;
  /** Audit annotations from authentication. */
  readonly authenticationNotes?: Readonly<Record<string, string>>;
}

declare const authorized: unique symbol;

/** Only the authorization stage makes one, with {@link markAuthorized}. */
export interface AuthorizedRequest extends AuthenticatedRequest {
  readonly [authorized]: true;
}

/** A resource request that may be served. What every verb takes. */
export interface AuthorizedResourceRequest extends AuthorizedRequest {
  readonly target: ResourceTarget;
}

/** Only the authorization stage calls this, after an authorizer allowed the request. */
export function markAuthorized(request: AuthenticatedRequest): AuthorizedRequest {
  return request as AuthorizedRequest;
}

export function isResourceRequest(request: AuthorizedRequest): request is AuthorizedResourceRequest {
  return request.target !== undefined;
}

/** Only the authentication stage calls this. Returns the same object. */
export function markAuthenticated(
  request: ApiRequest,
  user: UserInfo,
  authenticationNotes: Readonly<Record<string, string>> = {},
): AuthenticatedRequest {
  return Object.assign(request, { user, authenticationNotes });
}

/** Only the impersonation stage calls this, after the sender was allowed to act as `user`. */
export function markImpersonated(request: AuthenticatedRequest, user: UserInfo): AuthenticatedRequest {
  return Object.assign(request, { user, impersonator: request.user });
}

const SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Requests that last as long as the caller likes; timeouts and limits on concurrency do not apply to them. */
export function isLongRunning({ verb, target, path }: Pick<ApiRequest, 'verb' | 'target' | 'path'>): boolean {
  if (verb === 'watch' || verb === 'proxy') return true;
  return target === undefined ? path.startsWith('/debug/pprof/') : SUBRESOURCES.has(target.subresource);
}
