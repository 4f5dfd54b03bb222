import { randomUUID } from 'node:crypto';
import type { UserInfo } from '../../request/api-request.ts';
import type { WriteCall } from '../writing/call.ts';

/** The user under which the server itself writes, as Kubernetes names it. */
const APISERVER: UserInfo = {
  username: 'system:apiserver',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
};

/** A part of the server that writes without being asked by a request. */
export interface ServerAuthor {
  /** The user agent and field manager in history. */
  readonly name: string;
  /** `track`: what it writes is recorded in metadata.managedFields under its name. */
  readonly ownership: WriteCall['ownership'];
}

/** Each write has an id of its own in history, as requests have. */
export function authorOf({ name }: ServerAuthor): WriteCall['author'] {
  return {
    user: APISERVER,
    attribution: {
      username: APISERVER.username,
      userAgent: name,
      sourceAddress: '',
      requestId: randomUUID(),
      fieldManager: name,
    },
  };
}
