import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dialect } from '../api/dialect.ts';

/** What the caller wants, in the words that authorization, audit and metrics use. */
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
  /** What follows the subresource in the path (proxies only), without a leading slash. */
  readonly subpath: string;
}

/** A peer certificate that the TLS layer received; it is trusted only after authn has verified its chain. */
export interface PeerCertificate {
  /** DER, leaf first. */
  readonly chain: readonly Buffer[];
}

/** A request as it came, for those who pass it on. */
export interface RawRequest {
  /** Names and values in turn, in the sender's spelling and order. A stage may have taken a name out of `headers`. */
  readonly headers: readonly string[];
  /** Path and query, still escaped. */
  readonly url: string;
  /** Not to be read beside {@link ApiRequest.body}. */
  readonly body: Readable;
  /** The protocol that the client wants to change to, in lower case: `websocket`, `spdy/3.1`. '' for none. */
  readonly upgrade: string;
}

/**
 * One request, independent of how it came in. Its type tells how far it has got: a stage takes one type and hands on the
 * next, so that a verb cannot be called with a request that nobody authorized.
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
  /** The dialect the path was written in; `k8s.io` where the path does not tell. */
  readonly dialect: Dialect;
  readonly sourceAddress: string;
  readonly userAgent: string;
  readonly peerCertificate: PeerCertificate | undefined;
  readonly receivedAt: Date;
  /** Set by the audit stage for a request that is recorded. */
  audit?: AuditTrail | undefined;
  /** Aborts when the client goes away or the request's time is up. Made when it is first asked for. */
  readonly signal: AbortSignal;
  /** Whether the signal has aborted, for who does not want to know when. */
  readonly aborted: boolean;
  /** The time is up: what works for the request stops, and may still be answered. To be called by the deadline stage alone. */
  expire(): void;
  /**
   * The whole body, decompressed.
   * @throws StatusError 413 when it is larger than `limitBytes`, 400 when the client broke off
   */
  body(limitBytes: number): Promise<Buffer>;
  /** Bytes of the body that have been received. */
  readonly receivedBytes: number;
  /** For whoever hands the request on to another server. */
  readonly raw: RawRequest;
  /** Adds a Warning header to the response, once a text. To be called before the response is returned. */
  warn(text: string): void;
  /** Adds a header to the response, whatever it will be. To be called before the response is returned. */
  addHeader(name: string, value: string): void;
}

/** Whoever waits for an answer: without a caller, work goes on to its end. */
export type Caller = Pick<ApiRequest, 'signal' | 'aborted'>;

export interface UserInfo {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What stages and verbs tell of a request while they serve it, for the events that are recorded of it. */
export interface AuditTrail {
  /**
   * The object in the body as the verb understood it: what the path does not say of it completes the reference. It is copied at
   * once, if it is to be recorded, and may be changed after.
   */
  requestObject(value: unknown): void;
  /** A body that is no object: a patch, options. It says nothing of the object that can be relied on. */
  requestBody(value: unknown): void;
  /** The request is served as if this user had sent it. */
  impersonated(user: UserInfo): void;
  /** Belongs to level Metadata. The first value of a key stays. */
  annotate(key: string, value: string): void;
}

export interface AuthenticatedRequest extends ApiRequest {
  /** Who acts. */
  readonly user: UserInfo;
  /** Who sent the request, where that is not who acts in it. */
  readonly impersonator?: UserInfo;
  /** What authentication found worth recording, by annotation key. */
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

/** To be called by the authorization stage alone, after an authorizer allowed the request. */
export function markAuthorized(request: AuthenticatedRequest): AuthorizedRequest {
  return request as AuthorizedRequest;
}

export function isResourceRequest(request: AuthorizedRequest): request is AuthorizedResourceRequest {
  return request.target !== undefined;
}

/** To be called by the authentication stage alone. The request is the same object, known better. */
export function markAuthenticated(
  request: ApiRequest,
  user: UserInfo,
  authenticationNotes: Readonly<Record<string, string>> = {},
): AuthenticatedRequest {
  return Object.assign(request, { user, authenticationNotes });
}

/** To be called by the impersonation stage alone, after the sender was allowed to act as `user`. */
export function markImpersonated(request: AuthenticatedRequest, user: UserInfo): AuthenticatedRequest {
  return Object.assign(request, { user, impersonator: request.user });
}
