import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { ApiError, askJson } from '../api/client.ts';
import { listRevisions, type Revision } from '../api/history.ts';
import { type Kind, pathOf } from '../api/kinds.ts';
import {
  differenceOf,
  firstHunks,
  type Hunk,
  MOST_IN_HUNK,
  type Row,
  type Side,
  toHunks,
} from '../model/difference.ts';
import type { Json } from '../model/json.ts';
import { clockOf } from '../model/moments.ts';
import { readable } from '../model/readable.ts';
import { counted, inOneLine, shortened } from '../model/text.ts';
import { type Line, type NameElement, textOf, toLines } from '../model/yaml.ts';
import { useAsked } from '../state/asked.ts';
import { now } from '../state/clock.ts';
import { change, params } from '../state/place.ts';
import { isNarrow } from '../state/preferences.ts';
import { ChangePanel } from './change-panel.tsx';
import { Icon } from './icons.tsx';
import { Empty, Loading, Trouble } from './notice.tsx';
import { type Boxes, boxesOf, PickBox, type Picking, usePicking } from './picking.tsx';
import type { RestoreWish } from './restore-dialog.tsx';
import { shortAuthor, Text } from './text.tsx';

interface DiffViewProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  restore(wish: RestoreWish): void;
}

const MOST_REVISIONS = 200;
const LONGEST = 2000;
/** Before anything was written. */
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

interface PickBarProps {
  readonly picking: Picking;
  restore(paths: readonly string[]): void;
}

function PickBar({ picking, restore }: PickBarProps): JSX.Element {
  const { chosen, isReading, problem } = picking;
  return (
    <div class="pick-bar" role="status" aria-busy={isReading}>
      {problem !== '' ? (
        <span class="wrong">
          <Text of={problem.slice(0, 500)} />
        </span>
      ) : (
        <span>
          {isReading
            ? 'Looking for what can be put back…'
            : chosen.size === 0
              ? 'Mark the fields to put back as they are on the left.'
              : `${counted(chosen.size, 'field')} to put back`}
        </span>
      )}
      <button type="button" class="primary" disabled={chosen.size === 0} onClick={() => restore([...chosen])}>
        Restore these…
      </button>
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

/** The object's state; undefined where it was not there. */
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

interface DifferenceProps {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly isUnified: boolean;
  readonly picking: Picking | undefined;
}

function Difference({ before, after, isUnified, picking }: DifferenceProps): JSX.Element {
  const nameElement = picking?.nameElement;
  const left = useMemo(() => linesOf(before, nameElement), [before, nameElement]);
  const right = useMemo(() => linesOf(after, nameElement), [after, nameElement]);
  // Names of elements are no part of the text.
  const rows = useMemo(() => differenceOf(left.map(textOf), right.map(textOf)), [before, after]);
  const hunks = useMemo(() => toHunks(rows), [rows]);
  const [most, setMost] = useState(MOST_IN_HUNK);
  const shown = firstHunks(hunks, most);
  const rest = hunks.slice(shown.length).reduce((sum, hunk) => sum + hunk.rows.length, 0);
  const boxes = useMemo(
    () =>
      picking === undefined || nameElement === undefined ? NO_BOXES : boxesOf(rows, { left, right }, picking),
    [rows, left, right, nameElement],
  );
  const boxAt = (side: Which, number: number | undefined): JSX.Element | undefined => {
    const path = boxes.get(`${side}${number}`);
    return path === undefined || picking === undefined ? undefined : (
      <PickBox path={path} picking={picking} />
    );
  };
  if (rows.every(({ kind }) => kind === 'same'))
    return (
      <Empty title="No difference">
        {rows.length === 0 ? 'The object was not there.' : 'Both states are the same.'}
      </Empty>
    );
  return (
    <section class={`diff scrolls ${picking === undefined ? '' : 'with-boxes'}`} aria-label="Difference">
      <table class={isUnified ? 'unified' : 'split'}>
        <colgroup>
          {(isUnified ? ['number', 'number', 'sign', 'text'] : ['number', 'text', 'number', 'text']).map(
            (width, index) => (
              <col key={`${index}${width}`} class={`col-${width}`} />
            ),
          )}
        </colgroup>
        <tbody>
          {shown.map((hunk) => (
            <HunkRows key={firstNumber(hunk)} hunk={hunk} isUnified={isUnified} boxAt={boxAt} />
          ))}
          {rest > 0 && <Fold onClick={() => setMost(most + MOST_IN_HUNK)}>{counted(rest, 'more line')}</Fold>}
        </tbody>
      </table>
    </section>
  );
}

function Fold({ onClick, children }: { onClick(): void; children: ComponentChildren }): JSX.Element {
  return (
    <tr class="fold">
      <td colSpan={4}>
        <button type="button" onClick={onClick}>
          {children}
        </button>
      </td>
    </tr>
  );
}

const NO_BOXES: Boxes = new Map();

const linesOf = (state: Json | undefined, nameElement: NameElement | undefined): readonly Line[] =>
  state === undefined ? [] : toLines(state, nameElement);

type BoxAt = (side: Which, number: number | undefined) => JSX.Element | undefined;

const firstNumber = ({ rows: [row] }: Hunk): string =>
  `${row?.left?.number ?? ''}:${row?.right?.number ?? ''}`;

interface HunkRowsProps {
  readonly hunk: Hunk;
  readonly isUnified: boolean;
  readonly boxAt: BoxAt;
}

function HunkRows({ hunk, isUnified, boxAt }: HunkRowsProps): JSX.Element {
  const [opened, setOpened] = useState(hunk.isFolded ? 0 : MOST_IN_HUNK);
  const rows = hunk.rows.slice(0, opened);
  const rest = hunk.rows.length - rows.length;
  const keyOf = (row: Row): string => `${row.left?.number ?? ''}:${row.right?.number ?? ''}`;
  return (
    <>
      {isUnified
        ? inUnifiedOrder(rows).map(({ row, side }) => (
            <UnifiedLine key={`${keyOf(row)}${side}`} row={row} side={side} boxAt={boxAt} />
          ))
        : rows.map((row) => <SplitLine key={keyOf(row)} row={row} boxAt={boxAt} />)}
      {rest > 0 && (
        <Fold onClick={() => setOpened(opened + MOST_IN_HUNK)}>{counted(rest, 'line')} the same</Fold>
      )}
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

function UnifiedLine({ row, side, boxAt }: { row: Row; side: Which; boxAt: BoxAt }): JSX.Element {
  const tone = row.kind === 'same' ? 'same' : side === 'left' ? 'removed' : 'added';
  const shown = row[side];
  return (
    <tr class={`diff-${tone}`}>
      <td class="line-number">
        {row.kind !== 'same' && boxAt(side, shown?.number)}
        {side === 'left' || row.kind === 'same' ? row.left?.number : ''}
      </td>
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

function SplitLine({ row, boxAt }: { row: Row; boxAt: BoxAt }): JSX.Element {
  const tones = row.kind === 'same' ? ['same', 'same'] : [row.left && 'removed', row.right && 'added'];
  return (
    <tr>
      {([row.left, row.right] as const).map((side, index) => (
        <SplitCells
          key={index === 0 ? 'left' : 'right'}
          side={side}
          tone={tones[index] ?? 'absent'}
          box={row.kind === 'same' ? undefined : boxAt(index === 0 ? 'left' : 'right', side?.number)}
        />
      ))}
    </tr>
  );
}

interface SplitCellsProps {
  readonly side: Side | undefined;
  readonly tone: string;
  readonly box: JSX.Element | undefined;
}

function SplitCells({ side, tone, box }: SplitCellsProps): JSX.Element {
  return (
    <>
      <td class={`line-number diff-${tone}`}>
        {box}
        {side?.number}
      </td>
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
