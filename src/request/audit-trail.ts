import type { UserInfo } from './api-request.ts';

/** What stages and verbs tell of a request while they serve it, for the events that are recorded of it. */
export interface AuditTrail {
  /** The body as the verb understood it. It is copied at once, if it is to be recorded, and may be changed after. */
  requestObject(value: unknown): void;
  /** The request is served as if this user had sent it. */
  impersonated(user: UserInfo): void;
  /** Belongs to level Metadata. The first value of a key stays. */
  annotate(key: string, value: string): void;
}
