import type { Status } from '../api/status.ts';
import { parseIp } from '../object/ip.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { Level, Stage } from './audit-policy.ts';

/**
 * The fields of audit.k8s.io/v1 Event below kind and apiVersion, without the two bodies. Times have microseconds. Absent fields
 * are present as undefined, because objects of one shape are cheaper to make (16 µs for an event and its JSON).
 */
export interface AuditEvent {
  readonly level: Level;
  readonly auditID: string;
  readonly stage: Stage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: EventUser;
  readonly impersonatedUser?: EventUser | undefined;
  /** The verb that allowed a constrained impersonation. */
  readonly authenticationMetadata?: { readonly impersonationConstraint: string } | undefined;
  readonly sourceIPs?: readonly string[] | undefined;
  readonly userAgent?: string | undefined;
  readonly objectRef?: ObjectReference | undefined;
  readonly responseStatus?: EventStatus | undefined;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export interface EventUser {
  readonly username?: string | undefined;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export interface ObjectReference {
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
  readonly apiGroup?: string | undefined;
  readonly apiVersion?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly subresource?: string | undefined;
}

export type EventStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details' | 'code'>> & {
  readonly metadata: Record<string, never>;
};

/** Bodies as JSON text, because they were bytes, or are objects that change later. */
export interface EventBodies {
  readonly requestObject?: string | undefined;
  readonly responseObject?: string | undefined;
}

const TRUNCATED = 'audit.k8s.io/truncated';

/** An event on its way to the back ends, which share its JSON. */
export class AuditRecord {
  readonly event: AuditEvent;
  readonly bodies: EventBodies;
  #fields: string | undefined;

  constructor(event: AuditEvent, bodies: EventBodies) {
    this.event = event;
    this.bodies = bodies;
  }

  /** On one line. Items of a list carry no type of their own. */
  toJson(apiVersion?: string): string {
    this.#fields ??= this.#toFields();
    const type = apiVersion === undefined ? '' : `"kind":"Event","apiVersion":${JSON.stringify(apiVersion)},`;
    return `{${type}${this.#fields}}`;
  }

  /** The record without its bodies, for an event that is too large. */
  withoutBodies(): AuditRecord {
    const annotations = { ...this.event.annotations, [TRUNCATED]: 'true' };
    return new AuditRecord({ ...this.event, annotations }, {});
  }

  #toFields(): string {
    const { requestObject, responseObject } = this.bodies;
    const fields = [JSON.stringify(this.event).slice(1, -1)];
    if (requestObject !== undefined) fields.push(`"requestObject":${requestObject}`);
    if (responseObject !== undefined) fields.push(`"responseObject":${responseObject}`);
    return fields.join(',');
  }
}

/**
 * The claimed addresses of a request, then the real one: X-Forwarded-For, X-Real-Ip, the peer's address. The client can make up
 * all but the last (Kubernetes: apimachinery, util/net, SourceIPs).
 */
export function sourceAddresses({
  headers,
  sourceAddress,
}: Pick<ApiRequest, 'headers' | 'sourceAddress'>): string[] {
  const found = toText(headers['x-forwarded-for']).split(',').flatMap(readAddress);
  for (const address of readAddress(toText(headers['x-real-ip']))) {
    if (!found.includes(address)) found.push(address);
  }
  for (const address of readAddress(sourceAddress)) if (found.at(-1) !== address) found.push(address);
  return found;
}

const toText = (header: string | string[] | undefined): string =>
  Array.isArray(header) ? header.join(',') : (header ?? '');

/** Empty for a text that is no address. An IPv4 peer on an IPv6 socket is written as IPv4. */
function readAddress(text: string): string[] {
  const trimmed = text.trim();
  const address = parseIp(trimmed);
  if (address === undefined) return [];
  return [address.family === 4 ? address.bytes.join('.') : trimmed.toLowerCase()];
}
