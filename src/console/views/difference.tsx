import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Json } from '../model/api-object.ts';
import {
  differenceOf,
  firstHunks,
  type Hunk,
  MOST_IN_HUNK,
  type Row,
  type Side,
  toHunks,
} from '../model/difference.ts';
import { counted, shortened } from '../model/text.ts';
import { type Line, lineText, type NameElement, toLines } from '../model/yaml.ts';
import { Empty } from './notice.tsx';
import { type Boxes, boxesOf, PickBox, type Picking } from './picking.tsx';
import { Text } from './text.tsx';

const LONGEST = 2000;

interface DifferenceProps {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly isUnified: boolean;
  readonly picking: Picking | undefined;
}

/** Two states as lines side by side, or below each other. */
export function Difference({ before, after, isUnified, picking }: DifferenceProps): JSX.Element {
  const nameElement = picking?.nameElement;
  const left = useMemo(() => linesOf(before, nameElement), [before, nameElement]);
  const right = useMemo(() => linesOf(after, nameElement), [after, nameElement]);
  // Ignores the names of elements.
  const rows = useMemo(() => differenceOf(left.map(lineText), right.map(lineText)), [before, after]);
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

/** Orders runs of changes: removed lines, then added ones. */
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
