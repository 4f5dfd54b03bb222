import type { Status } from '../api/status.ts';
import type { Level, Stage } from './policy/policy.ts';

/** The fields of audit.k8s.io/v1 Event below kind and apiVersion, without the two bodies. Times have microseconds. */
export interface AuditEvent {
  readonly level: Level;
  readonly auditID: string;
  readonly stage: Stage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: EventUser;
  readonly impersonatedUser?: EventUser;
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  readonly objectRef?: ObjectReference;
  readonly responseStatus?: EventStatus;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface EventUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ObjectReference {
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiGroup?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

export type EventStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details' | 'code'>> & {
  readonly metadata: Record<string, never>;
};

/** Bodies as JSON text: they were bytes, or are objects that change after. */
export interface EventBodies {
  readonly requestObject?: string;
  readonly responseObject?: string;
}

const TRUNCATED = 'audit.k8s.io/truncated';

/** An event on its way to the back ends. Its JSON is made once, whoever asks for it. */
export class AuditRecord {
  readonly event: AuditEvent;
  readonly #bodies: EventBodies;
  #fields: string | undefined;

  constructor(event: AuditEvent, bodies: EventBodies) {
    this.event = event;
    this.#bodies = bodies;
  }

  /** On one line. Items of a list carry no type of their own. */
  toJson(apiVersion?: string): string {
    this.#fields ??= this.#toFields();
    const type = apiVersion === undefined ? '' : `"kind":"Event","apiVersion":${JSON.stringify(apiVersion)},`;
    return `{${type}${this.#fields}}`;
  }

  /** What stays when the event is too large. */
  withoutBodies(): AuditRecord {
    const annotations = { ...this.event.annotations, [TRUNCATED]: 'true' };
    return new AuditRecord({ ...this.event, annotations }, {});
  }

  #toFields(): string {
    const { requestObject, responseObject } = this.#bodies;
    const fields = [JSON.stringify(this.event).slice(1, -1)];
    if (requestObject !== undefined) fields.push(`"requestObject":${requestObject}`);
    if (responseObject !== undefined) fields.push(`"responseObject":${responseObject}`);
    return fields.join(',');
  }
}
