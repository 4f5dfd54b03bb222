import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { ApiError, askJson } from '../api/client.ts';
import { listRevisions, type Revision } from '../api/history.ts';
import { type Kind, pathOf } from '../api/kinds.ts';
import { differenceOf, type Hunk, type Row, type Side, toHunks } from '../model/difference.ts';
import type { Json } from '../model/json.ts';
import { clockOf } from '../model/moments.ts';
import { readable } from '../model/readable.ts';
import { counted, inOneLine, shortened } from '../model/text.ts';
import { textOf, toLines } from '../model/yaml.ts';
import { useAsked } from '../state/asked.ts';
import { now } from '../state/clock.ts';
import { change, params } from '../state/place.ts';
import { isNarrow } from '../state/preferences.ts';
import { Icon } from './icons.tsx';
import { Empty, Loading, Trouble } from './notice.tsx';
import { shortAuthor, Text } from './text.tsx';

interface DiffViewProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  restore(to: string): void;
}

const MOST_REVISIONS = 200;
const LONGEST = 2000;
/** Before anything was written. */
const NOTHING = '0';

/** Any two revisions of an object beside each other. */
export function DiffView({ kind, namespace, name, restore }: DiffViewProps): JSX.Element {
  const { at, from: askedFrom, to: askedTo, layout } = params.value;
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
  if (known.error !== undefined) return <Trouble error={known.error} retry={known.again} />;
  if (known.value === undefined) return <Loading lines={14} />;
  if (revisions.length === 0 && askedTo === undefined)
    return <Empty title="No changes are known">All of them are older than the history that is kept.</Empty>;
  const isUnified = layout === 'unified' || (layout === undefined && isNarrow.value);
  return (
    <div class="diff-view">
      <div class="code-tools">
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
        {from !== NOTHING && (
          <button type="button" class="plain restore-from" onClick={() => restore(from)}>
            <Icon name="restore" /> Restore the left one
          </button>
        )}
      </div>
      {states.error !== undefined ? (
        <Trouble error={states.error} retry={states.again} />
      ) : states.value === undefined ? (
        <Loading lines={14} />
      ) : (
        <Difference before={states.value[0] ?? []} after={states.value[1] ?? []} isUnified={isUnified} />
      )}
    </div>
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

/** Lines of the object's state; none where it was not there. */
async function readState({ kind, namespace, name, revision, signal }: StateQuery): Promise<string[]> {
  if (revision === NOTHING) return [];
  try {
    const object = await askJson<Json>(pathOf(kind, namespace, name), { query: { asOf: revision }, signal });
    return toLines(readable(object, { managedFields: false, resourceVersion: false })).map(textOf);
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return [];
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

interface DifferenceProps {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly isUnified: boolean;
}

function Difference({ before, after, isUnified }: DifferenceProps): JSX.Element {
  const rows = useMemo(() => differenceOf(before, after), [before, after]);
  const hunks = useMemo(() => toHunks(rows), [rows]);
  if (rows.every(({ kind }) => kind === 'same'))
    return (
      <Empty title="No difference">
        {rows.length === 0 ? 'The object was not there.' : 'Both states are the same.'}
      </Empty>
    );
  return (
    <section class="diff scrolls" aria-label="Difference">
      <table class={isUnified ? 'unified' : 'split'}>
        <colgroup>
          {(isUnified ? ['number', 'number', 'sign', 'text'] : ['number', 'text', 'number', 'text']).map(
            (width, index) => (
              <col key={`${index}${width}`} class={`col-${width}`} />
            ),
          )}
        </colgroup>
        <tbody>
          {hunks.map((hunk) => (
            <HunkRows key={firstNumber(hunk)} hunk={hunk} isUnified={isUnified} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const firstNumber = ({ rows: [row] }: Hunk): string =>
  `${row?.left?.number ?? ''}:${row?.right?.number ?? ''}`;

function HunkRows({ hunk, isUnified }: { hunk: Hunk; isUnified: boolean }): JSX.Element {
  const [isOpen, setOpen] = useState(!hunk.isFolded);
  if (!isOpen)
    return (
      <tr class="fold">
        <td colSpan={4}>
          <button type="button" onClick={() => setOpen(true)}>
            {counted(hunk.rows.length, 'line')} the same
          </button>
        </td>
      </tr>
    );
  const keyOf = (row: Row): string => `${row.left?.number ?? ''}:${row.right?.number ?? ''}`;
  return (
    <>
      {isUnified
        ? inUnifiedOrder(hunk.rows).map(({ row, side }) => (
            <UnifiedLine key={`${keyOf(row)}${side}`} row={row} side={side} />
          ))
        : hunk.rows.map((row) => <SplitLine key={keyOf(row)} row={row} />)}
    </>
  );
}

type Which = 'left' | 'right';

/** What a run of changes removed stands before what it added. */
function inUnifiedOrder(rows: readonly Row[]): { row: Row; side: Which }[] {
  const lines: { row: Row; side: Which }[] = [];
  let added: Row[] = [];
  for (const row of rows) {
    if (row.kind === 'same') {
      for (const one of added) lines.push({ row: one, side: 'right' });
      added = [];
      lines.push({ row, side: 'right' });
      continue;
    }
    if (row.left !== undefined) lines.push({ row, side: 'left' });
    if (row.right !== undefined) added.push(row);
  }
  for (const one of added) lines.push({ row: one, side: 'right' });
  return lines;
}

function UnifiedLine({ row, side }: { row: Row; side: Which }): JSX.Element {
  const tone = row.kind === 'same' ? 'same' : side === 'left' ? 'removed' : 'added';
  const shown = row[side];
  return (
    <tr class={`diff-${tone}`}>
      <td class="line-number">{side === 'left' || row.kind === 'same' ? row.left?.number : ''}</td>
      <td class="line-number">{side === 'right' ? row.right?.number : ''}</td>
      <td class="sign" aria-label={tone}>
        {tone === 'removed' ? '−' : tone === 'added' ? '+' : ''}
      </td>
      <td class="line">
        <SideText side={shown} />
      </td>
    </tr>
  );
}

function SplitLine({ row }: { row: Row }): JSX.Element {
  const tones = row.kind === 'same' ? ['same', 'same'] : [row.left && 'removed', row.right && 'added'];
  return (
    <tr>
      {([row.left, row.right] as const).map((side, index) => (
        <SplitCells key={index === 0 ? 'left' : 'right'} side={side} tone={tones[index] ?? 'absent'} />
      ))}
    </tr>
  );
}

function SplitCells({ side, tone }: { side: Side | undefined; tone: string }): JSX.Element {
  return (
    <>
      <td class={`line-number diff-${tone}`}>{side?.number}</td>
      <td class={`line diff-${tone}`}>
        <SideText side={side} />
      </td>
    </>
  );
}

function SideText({ side }: { side: Side | undefined }): JSX.Element {
  return (
    <>
      {side?.pieces.map(({ text, isChanged }, index) => {
        const shown = <Text of={shortened(text, LONGEST)} />;
        return isChanged ? <mark key={index}>{shown}</mark> : <span key={index}>{shown}</span>;
      })}
    </>
  );
}
