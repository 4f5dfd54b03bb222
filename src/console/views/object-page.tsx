import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Kind } from '../api/load-kinds.ts';
import { formatAddress } from '../model/address.ts';
import type { ApiObject } from '../model/api-object.ts';
import { inOneLine } from '../model/text.ts';
import { hasHistory } from '../state/catalog.ts';
import { useKeys } from '../state/key-handlers.ts';
import { useObject } from '../state/object.ts';
import { asOf, change, changed, hrefOf, params } from '../state/place.ts';
import { ChangeFeed } from './change-feed.tsx';
import { DiffView } from './diff-view.tsx';
import { EventsView } from './events-view.tsx';
import { Icon } from './icons.tsx';
import { Empty, Kept, Loading, Trouble } from './notice.tsx';
import { RelationsView } from './relations-view.tsx';
import { RestoreDialog, type RestoreWish } from './restore-dialog.tsx';
import { Age, Text } from './text.tsx';
import { YamlView } from './yaml-view.tsx';

const TABS = [
  { id: 'yaml', title: 'YAML', needsHistory: false },
  { id: 'changes', title: 'Changes', needsHistory: true },
  { id: 'diff', title: 'Compare', needsHistory: true },
  { id: 'relations', title: 'Relations', needsHistory: false },
  { id: 'events', title: 'Events', needsHistory: false },
] as const;

interface ObjectPageProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

export function ObjectPage({ kind, namespace, name }: ObjectPageProps): JSX.Element {
  const [wish, setWish] = useState<RestoreWish | undefined>(undefined);
  const [newest, setNewest] = useState('');
  // A restore reloads the comparison.
  const [round, setRound] = useState(0);
  const tabs = TABS.filter(({ needsHistory }) => hasHistory.value || !needsHistory);
  const tab = tabs.find(({ id }) => id === params.value.tab)?.id ?? 'yaml';
  const place = { kind, namespace, name };
  useKeys(
    Object.fromEntries(
      tabs.map(({ id }, index) => [String(index + 1), () => change({ tab: id === 'yaml' ? '' : id })]),
    ),
  );
  // The stream of its changes also covers the object: a page opens only one.
  const isFollowed = tab !== 'changes';
  const shown = useObject({
    ...{ ...place, asOf: asOf.value },
    ...{ isFollowed, version: newest },
  });
  const close = (): void => {
    setWish(undefined);
    setRound(round + 1);
  };
  return (
    <section class="page object-page">
      <ObjectHead {...place} {...shown} restore={setWish} />
      <nav class="object-tabs" aria-label="Views of the object">
        {tabs.map(({ id, title }) => (
          <a
            key={id}
            href={formatAddress(changed({ tab: id === 'yaml' ? '' : id }))}
            aria-current={id === tab ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {shown.object !== undefined && shown.error !== undefined && tab !== 'diff' && (
        <Kept error={shown.error} />
      )}
      <ObjectView {...place} {...shown} tab={tab} round={round} restore={setWish} onNewest={setNewest} />
      {wish !== undefined && (
        <RestoreDialog
          object={{
            ...(kind.group === '' ? {} : { group: kind.group }),
            resource: kind.plural,
            kind: kind.kind,
            namespace,
            name,
          }}
          {...wish}
          close={close}
        />
      )}
    </section>
  );
}

interface ShownObject {
  readonly object: ApiObject | undefined;
  readonly error: unknown;
  readonly isGone: boolean;
}

interface Restoring {
  restore(wish: RestoreWish): void;
}

function ObjectHead({
  kind,
  namespace,
  name,
  object,
  isGone,
  restore,
}: ObjectPageProps & ShownObject & Restoring): JSX.Element {
  return (
    <header class="page-head">
      <div class="object-name">
        <a class="crumb" href={hrefOf({ page: 'list', resource: kind.id })}>
          <Icon name="back" />
          <Text of={kind.kind} />
        </a>
        {namespace !== '' && (
          <span class="object-namespace">
            <Text of={namespace} />
          </span>
        )}
        <h1>
          <Text of={inOneLine(name, 300)} />
        </h1>
        <ObjectState object={object} isGone={isGone} />
      </div>
      {hasHistory.value && asOf.value !== undefined && object !== undefined && (
        <button type="button" class="primary" onClick={() => restore({ to: asOf.value ?? '' })}>
          <Icon name="restore" /> Restore this state
        </button>
      )}
    </header>
  );
}

interface ObjectViewProps extends ObjectPageProps, ShownObject, Restoring {
  readonly tab: (typeof TABS)[number]['id'];
  /** Another one reloads the comparison. */
  readonly round: number;
  onNewest(revision: string): void;
}

function ObjectView(props: ObjectViewProps): JSX.Element {
  const { kind, namespace, name, tab, round, onNewest, restore, object, error } = props;
  const of = { kind, namespace, name };
  if (tab === 'changes')
    return (
      <ChangeFeed
        of={{ id: kind.id, namespace, name }}
        onRevisions={([first]) => onNewest(first?.metadata.name ?? '')}
      />
    );
  if (tab === 'diff') return <DiffView key={round} {...of} restore={restore} />;
  if (object === undefined) return error === undefined ? <Loading lines={14} /> : <Missing error={error} />;
  if (tab === 'relations') return <RelationsView {...of} object={object} />;
  if (tab === 'events') return <EventsView {...of} object={object} />;
  return <YamlView {...of} object={object} restore={restore} />;
}

/** A missing object may have existed in the past. */
function Missing({ error }: { error: unknown }): JSX.Element {
  const isMissing = typeof error === 'object' && error !== null && 'code' in error && error.code === 404;
  if (!isMissing) return <Trouble error={error} />;
  return (
    <Empty
      title={
        asOf.value === undefined ? 'This object does not exist' : 'This object did not exist at that moment'
      }
    >
      {hasHistory.value && (
        <button type="button" onClick={() => change({ tab: 'changes' })}>
          See what happened to it
        </button>
      )}
    </Empty>
  );
}

function ObjectState({
  object,
  isGone,
}: {
  object: ApiObject | undefined;
  isGone: boolean;
}): JSX.Element | null {
  if (object === undefined) return null;
  if (isGone) return <span class="badge badge-bad">deleted just now</span>;
  return (
    <span class="object-facts">
      {object.metadata.deletionTimestamp !== undefined && <span class="badge badge-bad">being deleted</span>}
      <Age since={object.metadata.creationTimestamp} /> old
      <span class="revision" title="Revision">
        r{object.metadata.resourceVersion}
      </span>
    </span>
  );
}
