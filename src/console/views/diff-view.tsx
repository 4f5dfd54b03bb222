import type { JSX } from 'preact';
import { ApiError, askJson } from '../api/ask.ts';
import { listRevisions, type Revision } from '../api/history-requests.ts';
import { type Kind, pathOf } from '../api/load-kinds.ts';
import type { Json } from '../model/api-object.ts';
import { clockOf } from '../model/moments.ts';
import { readable } from '../model/readable.ts';
import { inOneLine } from '../model/text.ts';
import { useAsked } from '../state/asked.ts';
import { now } from '../state/page-clock.ts';
import { change, params } from '../state/place.ts';
import { isNarrow } from '../state/preferences.ts';
import { ChangePanel } from './change-panel.tsx';
import { Difference } from './difference.tsx';
import { Icon } from './icons.tsx';
import { Empty, Loading, Trouble } from './notice.tsx';
import { PickBar, usePicking } from './picking.tsx';
import type { RestoreWish } from './restore-dialog.tsx';
import { shortAuthor } from './text.tsx';

interface DiffViewProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  restore(wish: RestoreWish): void;
}

const MOST_REVISIONS = 200;
/** The revision before the first write. */
const NOTHING = '0';

/** Any two revisions of an object beside each other. */
export function DiffView({ kind, namespace, name, restore }: DiffViewProps): JSX.Element {
  const { at, from: askedFrom, to: askedTo, layout, rev, pick } = params.value;
  const fields = { 'object.resource': kind.id, 'object.namespace': namespace, 'object.name': name };
  const known = useAsked(`${kind.id} ${namespace} ${name} ${at}`, (signal) =>
    listRevisions({ fields, until: at }, { limit: MOST_REVISIONS, signal }),
  );
  const revisions = known.value?.revisions ?? [];
  const to = askedTo ?? revisions[0]?.metadata.name ?? '';
  const from = askedFrom ?? previousOf(revisions, to);
  const key = known.value === undefined ? '' : `${from} ${to}`;
  const states = useAsked(key, async (signal) => {
    if (key === '') return undefined;
    return Promise.all([from, to].map((revision) => readState({ kind, namespace, name, revision, signal })));
  });
  const object = { group: kind.group, resource: kind.plural, namespace, name };
  const isPicking = pick === '1' && from !== NOTHING && known.value !== undefined;
  const picking = usePicking(isPicking ? { object, to: from } : undefined);
  if (known.error !== undefined) return <Trouble error={known.error} retry={known.again} />;
  if (known.value === undefined) return <Loading lines={14} />;
  if (revisions.length === 0 && askedTo === undefined)
    return <Empty title="No changes are known">All of them are older than the history that is kept.</Empty>;
  const isUnified = layout === 'unified' || (layout === undefined && isNarrow.value);
  return (
    <div class={`feed diff-page ${rev === undefined ? '' : 'with-panel'}`}>
      <div class="diff-view">
        <div class="code-tools diff-tools">
          <RevisionChoice
            label="From"
            value={from}
            revisions={revisions}
            choose={(rev) => change({ from: rev })}
            none
          />
          <span class="arrow" aria-hidden="true">
            →
          </span>
          <RevisionChoice
            label="To"
            value={to}
            revisions={revisions}
            choose={(rev) => change({ to: rev, from })}
          />
          <Tools {...{ from, to, isUnified, isPicking, restore }} />
        </div>
        {picking !== undefined && (
          <PickBar picking={picking} restore={(paths) => restore({ to: from, paths })} />
        )}
        {states.error !== undefined ? (
          <Trouble error={states.error} retry={states.again} />
        ) : states.value === undefined ? (
          <Loading lines={14} />
        ) : (
          <Difference
            before={states.value[0]}
            after={states.value[1]}
            isUnified={isUnified}
            picking={picking}
          />
        )}
      </div>
      {rev !== undefined && (
        <ChangePanel key={rev} number={rev} known={revisions.find(({ metadata }) => metadata.name === rev)} />
      )}
    </div>
  );
}

interface ToolsProps {
  readonly from: string;
  readonly to: string;
  readonly isUnified: boolean;
  readonly isPicking: boolean;
  restore(wish: RestoreWish): void;
}

function Tools({ from, to, isUnified, isPicking, restore }: ToolsProps): JSX.Element {
  return (
    <>
      <fieldset class="segments">
        <legend>Layout</legend>
        {(['split', 'unified'] as const).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={isUnified === (one === 'unified')}
            onClick={() => change({ layout: one }, { replace: true })}
          >
            {one === 'split' ? 'Side by side' : 'Unified'}
          </button>
        ))}
      </fieldset>
      <div class="tool-group">
        {to !== '' && (
          <button type="button" class="plain" onClick={() => change({ rev: to })}>
            <Icon name="help" /> Why?
          </button>
        )}
        {from !== NOTHING && (
          <>
            <button
              type="button"
              class="plain"
              aria-pressed={isPicking}
              onClick={() => change({ pick: isPicking ? '' : '1' }, { replace: true })}
            >
              <Icon name="check" /> Choose fields
            </button>
            <button type="button" class="plain restore-from" onClick={() => restore({ to: from })}>
              <Icon name="restore" /> Restore the left one
            </button>
          </>
        )}
      </div>
    </>
  );
}

const previousOf = (revisions: readonly Revision[], number: string): string => {
  const at = revisions.findIndex(({ metadata }) => metadata.name === number);
  return revisions[at]?.previous ?? revisions[at + 1]?.metadata.name ?? NOTHING;
};

interface StateQuery {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly revision: string;
  readonly signal: AbortSignal;
}

/** The object's state; undefined: it did not exist. */
async function readState(query: StateQuery): Promise<Json | undefined> {
  const { kind, namespace, name, revision, signal } = query;
  if (revision === NOTHING) return undefined;
  try {
    const object = await askJson<Json>(pathOf(kind, namespace, name), { query: { asOf: revision }, signal });
    return readable(object, { managedFields: false, resourceVersion: false });
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}

interface RevisionChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly revisions: readonly Revision[];
  readonly none?: boolean;
  choose(revision: string): void;
}

function RevisionChoice({ label, value, revisions, none, choose }: RevisionChoiceProps): JSX.Element {
  const isListed = revisions.some(({ metadata }) => metadata.name === value);
  return (
    <label class="revision-choice">
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {none === true && <option value={NOTHING}>nothing</option>}
        {!isListed && value !== NOTHING && <option value={value}>r{inOneLine(value, 30)}</option>}
        {revisions.map(({ metadata, at, user, verb }) => (
          <option key={metadata.name} value={metadata.name}>
            {`${clockOf(Date.parse(at), now.value)} · ${inOneLine(shortAuthor(user ?? ''), 40)} · ${verb} · r${metadata.name}`}
          </option>
        ))}
      </select>
    </label>
  );
}
