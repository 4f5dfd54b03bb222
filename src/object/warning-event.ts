import type { Event, ObjectReference } from '../api/types/core/v1.ts';
import { toTimestamp } from './timestamps.ts';

interface Warning {
  /** What warns. */
  readonly component: string;
  readonly reason: string;
  readonly message: string;
  readonly time: Date;
}

/** The event that warns of an object, in its namespace: or in `default` where it has none. */
export function warningOf(object: ObjectReference, { component, reason, message, time }: Warning): Event {
  const { namespace = '', name = '' } = object;
  const at = toTimestamp(time);
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { generateName: `${name}.`, namespace: namespace === '' ? 'default' : namespace },
    involvedObject: object,
    reason,
    message,
    type: 'Warning',
    source: { component },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}
