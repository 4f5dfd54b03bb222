import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type Change, idOf, type Revision } from '../api/history-requests.ts';
import { colourOf } from '../model/blame-colours.ts';
import { dayOf } from '../model/moments.ts';
import { counted, inOneLine } from '../model/text.ts';
import { FeedState } from '../state/change-feed.ts';
import { asOf, change, namespace, params } from '../state/place.ts';
import { ObjectLink, Values, VerbMark } from './change-lines.tsx';
import { ChangePanel } from './change-panel.tsx';
import { Empty, Kept, Loading, Trouble } from './notice.tsx';
import { Rows } from './rows.tsx';
import { Author, shortAuthor, Text } from './text.tsx';
import { AUTHOR_COLOURS } from './yaml-view.tsx';

const ROW_HEIGHT = 58;
/** Programs renew these every few seconds, which would hide other changes. */
const NOISE = 'leases.coordination.k8s.io';

interface ChangeFeedProps {
  /** One object; undefined: the filters of the page apply. */
  readonly of?: { readonly id: string; readonly namespace: string; readonly name: string };
  onRevisions?(revisions: readonly Revision[], feed: FeedState): void;
}

/** Changes, newest first, with the selected one beside them. */
export function ChangeFeed({ of, onRevisions }: ChangeFeedProps): JSX.Element {
  const feed = useMemo(() => new FeedState(), []);
  const { kind = '', who = '', verb = '', q = '', rev } = params.value;
  const fields =
    of === undefined
      ? { 'object.resource': kind, 'object.namespace': namespace.value, user: who, verb }
      : fieldsOf(of);
  const key = JSON.stringify([fields, asOf.value]);
  const read = (): void => feed.read({ fields, until: asOf.value });
  useEffect(read, [key]);
  useEffect(() => () => feed.close(), [feed]);
  const revisions = feed.revisions.value;
  useEffect(() => {
    if (revisions !== undefined) onRevisions?.(revisions, feed);
  }, [revisions]);
  const isNoiseShown = of !== undefined || kind === NOISE;
  const shown = useMemo(
    () =>
      (revisions ?? []).filter(
        (revision) => (isNoiseShown || idOf(revision.object) !== NOISE) && matches(revision, q),
      ),
    [revisions, q, isNoiseShown],
  );
  // The page's own filters may leave too few rows to scroll.
  useEffect(() => {
    if (shown.length < 30 && feed.hasMore) feed.more();
  }, [shown.length, revisions]);

  const isKept = feed.isKept.value;
  if (feed.error.value !== undefined && !isKept) return <Trouble error={feed.error.value} retry={read} />;
  if (revisions === undefined) return <Loading label="Loading changes" />;
  return (
    <>
      {feed.error.value !== undefined && <Kept error={feed.error.value} />}
      <div class={`feed ${rev === undefined ? '' : 'with-panel'}`}>
        {shown.length === 0 ? (
          <Empty title={feed.isReading.value ? 'Looking…' : 'No changes'}>
            {asOf.value === undefined
              ? 'Nothing that matches was written since history begins.'
              : 'Nothing that matches was written until then.'}
          </Empty>
        ) : (
          <Rows
            class="changes"
            label="Changes"
            items={shown}
            rowHeight={ROW_HEIGHT}
            keyOf={({ metadata }) => metadata.name}
            open={({ metadata }) => change({ rev: metadata.name }, { replace: rev !== undefined })}
            onEnd={() => feed.more()}
            row={(revision) => (
              <ChangeRow
                revision={revision}
                withObject={of === undefined}
                isOpen={revision.metadata.name === rev}
              />
            )}
          />
        )}
        {rev !== undefined && (
          <ChangePanel
            key={rev}
            number={rev}
            known={revisions.find(({ metadata }) => metadata.name === rev)}
          />
        )}
      </div>
    </>
  );
}

const fieldsOf = ({
  id,
  namespace: space,
  name,
}: {
  id: string;
  namespace: string;
  name: string;
}): Record<string, string> => ({
  'object.resource': id,
  'object.namespace': space,
  'object.name': name,
});

function matches({ object, user = '', manager = '', changes = [] }: Revision, search: string): boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return true;
  const values = changes.flatMap(({ path, old, new: now }) => [
    path,
    inOneLine(old ?? '', 500),
    inOneLine(now ?? '', 500),
  ]);
  const text = [object.kind, object.resource, object.namespace, object.name, user, manager, ...values]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

interface ChangeRowProps {
  readonly revision: Revision;
  readonly withObject: boolean;
  readonly isOpen: boolean;
}

function ChangeRow({ revision, withObject, isOpen }: ChangeRowProps): JSX.Element {
  const { object, verb, at, user = '', manager = '' } = revision;
  const moment = new Date(at);
  return (
    <td class={isOpen ? 'is-open' : undefined}>
      <div class="change-row">
        <time dateTime={at} title={moment.toLocaleString()}>
          {moment.toLocaleTimeString('en-GB')}
          {!isToday(moment) && <span class="day">{dayOf(moment.getTime(), Date.now())}</span>}
        </time>
        <VerbMark verb={verb} />
        <div class="change-what">
          <div class="change-title">
            {withObject ? (
              <ObjectLink object={object} />
            ) : (
              <span class="object-link">
                <b>{verb}</b> <span class="revision">r{revision.metadata.name}</span>
              </span>
            )}
            {revision.restored !== undefined && revision.restored !== '' && (
              <span class="badge">restored</span>
            )}
          </div>
          <div class="change-summary">
            <Summary revision={revision} />
          </div>
        </div>
        <div class="change-who">
          <Author name={shortAuthor(user)} colour={colourOf(user, AUTHOR_COLOURS)} />
          <span class="manager">
            <Text of={inOneLine(manager, 60)} />
          </span>
        </div>
      </div>
    </td>
  );
}

const isToday = (moment: Date): boolean => moment.toDateString() === new Date().toDateString();

/** As many changes as fit on a line. */
function Summary({ revision }: { revision: Revision }): JSX.Element {
  const { changes = [], verb, changesUnknown } = revision;
  if (changesUnknown === true) return <>what changed is no longer known</>;
  const fields = inOrderOfInterest(changes);
  const [first] = fields;
  if (first === undefined)
    return <>{verb === 'delete' ? 'deleted' : verb === 'create' ? 'created' : 'nothing but its revision'}</>;
  return (
    <>
      <code class="path" title={first.path}>
        <Text of={lastParts(first.path)} />
      </code>{' '}
      {first.hidden === true ? 'changed' : <Values {...first} limit={80} isBrief />}
      {fields.length > 1 && <span class="faint">{` and ${counted(fields.length - 1, 'more', 'more')}`}</span>}
    </>
  );
}

/** Puts changes of users before those of the status and metadata. */
function inOrderOfInterest(changes: readonly Change[]): readonly Change[] {
  const rankOf = ({ path }: Change): number =>
    path.startsWith('metadata.') ? 1 : path.startsWith('status.') ? 2 : 0;
  return changes
    .filter(({ path }) => path !== '' && path !== 'metadata.generation')
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** `containers[name=web].image` of `spec.template.spec.containers[name=web].image` */
function lastParts(path: string): string {
  const parts = path.split(/\.(?![^[]*\])/);
  return inOneLine(parts.slice(-2).join('.'), 90);
}
