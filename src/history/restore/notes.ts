import type { ApiObject } from '../../api/object-meta.ts';
import { conflict, StatusError } from '../../api/status.ts';
import { objectAt, stringOf } from '../../object/json-values.ts';
import type { PastObject } from './past-objects.ts';

/** Notes for the user about an object that was restored, or could not be. */

/** Fields whose values are now taken by other objects, or out of the cluster's range. */
export function takenFields(error: unknown): string[] {
  if (!(error instanceof StatusError) || error.status.reason !== 'Invalid') return [];
  const { causes = [] } = error.status.details ?? {};
  return causes.flatMap(({ field = '', message = '' }) =>
    CHOSEN_BY_CLUSTER.test(field) && TAKEN.test(message) ? [field] : [],
  );
}

const CHOSEN_BY_CLUSTER = /^spec\.(clusterIPs?(\[\d+\])?|healthCheckNodePort|ports\[\d+\]\.nodePort)$/;
const TAKEN = /already allocated|not in the valid range/;

export const given = (up: readonly string[]): string[] =>
  up.map((what) => `${what} is another's now, so that it got a new one`);

/** @throws StatusError 409 */
export function refuseEnding({ definition, name }: PastObject, { metadata }: ApiObject): void {
  if (metadata.deletionTimestamp === undefined || metadata.deletionTimestamp === null) return;
  throw conflict(definition, name, 'it is being deleted; restore it once it is gone');
}

export const endingNotes = ({ metadata: { deletionTimestamp } }: ApiObject): string[] =>
  deletionTimestamp === undefined || deletionTimestamp === null ? [] : ['it was being deleted then'];

export function replacementNotes(then: PastObject, { metadata }: ApiObject): string[] {
  if (metadata.uid === then.uid) return [];
  return [
    `it is another object now, made at ${metadata.creationTimestamp}: that of then had the uid ${then.uid}`,
  ];
}

export function forgetNode(pod: ApiObject): string[] {
  const spec = objectAt(pod, 'spec');
  const node = stringOf(spec.nodeName);
  delete spec.nodeName;
  return node === '' ? [] : [`it ran on node ${node}, and is scheduled anew`];
}

/** The cluster IP of a service cannot change. */
export function keptNotes(object: ApiObject, then: ApiObject): string[] {
  if (object.kind !== 'Service') return [];
  const kept = stringOf(objectAt(object, 'spec').clusterIP);
  const wanted = stringOf(objectAt(then, 'spec').clusterIP);
  return kept === wanted || kept === '' || wanted === ''
    ? []
    : [`spec.clusterIP stays ${kept}: only a new service can have ${wanted}`];
}

/** Adds advice to errors about immutable fields. Returns other errors as they are. */
export function advised(error: unknown): unknown {
  if (!(error instanceof StatusError) || error.status.reason !== 'Invalid') return error;
  const { message = '', code, reason, details } = error.status;
  if (!/ is immutable\b/.test(message)) return error;
  const advice = `${message}; delete the object, and restore it then`;
  return new StatusError({ code, reason, message: advice, ...(details === undefined ? {} : { details }) });
}
