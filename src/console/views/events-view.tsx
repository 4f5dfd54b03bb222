import type { JSX } from 'preact';
import { askJson } from '../api/ask.ts';
import type { Kind } from '../api/load-kinds.ts';
import type { ApiObject } from '../model/api-object.ts';
import { useAsked } from '../state/asked.ts';
import { asOf } from '../state/place.ts';
import { Empty, Loading, Trouble } from './notice.tsx';
import { Moment, Text } from './text.tsx';

interface EventObject extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

interface EventsViewProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly object: ApiObject;
}

/** Events of the object, newest first. Events of cluster-scoped objects are in `default`. */
export function EventsView({ kind, namespace, name, object }: EventsViewProps): JSX.Element {
  const space = namespace === '' ? 'default' : namespace;
  const asked = useAsked(
    `${object.metadata.uid} ${asOf.value} ${object.metadata.resourceVersion}`,
    (signal) =>
      askJson<{ items: readonly EventObject[] }>(`api/v1/namespaces/${encodeURIComponent(space)}/events`, {
        query: {
          fieldSelector: `involvedObject.name=${name},involvedObject.kind=${kind.kind}`,
          limit: '500',
          asOf: asOf.value,
        },
        signal,
      }),
  );
  if (asked.error !== undefined) return <Trouble error={asked.error} retry={asked.again} />;
  if (asked.value === undefined) return <Loading />;
  const events = asked.value.items.toSorted((a, b) => (momentOf(a) < momentOf(b) ? 1 : -1));
  if (events.length === 0)
    return <Empty title="No events">No component has reported an event about this object.</Empty>;
  return (
    <ol class="events scrolls">
      {events.map((event) => (
        <li key={event.metadata.uid} class={event.type === 'Warning' ? 'is-warning' : ''}>
          <div class="event-head">
            <b>
              <Text of={event.reason ?? ''} />
            </b>
            {(event.count ?? 1) > 1 && <span class="count">{event.count}×</span>}
            <span class="faint">
              <Text of={event.reportingComponent || (event.source?.component ?? '')} />
            </span>
            <Moment at={momentOf(event)} />
          </div>
          <p>
            <Text of={(event.message ?? '').slice(0, 5000)} />
          </p>
        </li>
      ))}
    </ol>
  );
}

const momentOf = ({ lastTimestamp, eventTime, metadata }: EventObject): string =>
  lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
