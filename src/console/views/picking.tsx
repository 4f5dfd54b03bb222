import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type RestoreSpec, restore } from '../api/history-requests.ts';
import { createBlame } from '../model/blame-colours.ts';
import { canBePutBack, enclosing } from '../model/changed-paths.ts';
import type { Row } from '../model/difference.ts';
import { counted } from '../model/text.ts';
import type { Line, NameElement } from '../model/yaml.ts';
import { useAsked } from '../state/asked.ts';
import { Text } from './text.tsx';

/** Fields of a difference that are selected for a restore. */
export interface Picking {
  /** Names list elements as the server does. */
  readonly nameElement: NameElement | undefined;
  readonly chosen: ReadonlySet<string>;
  readonly isReading: boolean;
  /** An error in words. '': none. */
  readonly problem: string;
  has(path: string): boolean;
  canPick(path: string): string | undefined;
  toggle(path: string): void;
}

/**
 * Offers the fields that a restore of the whole object would change: a dry run lists them, as paths that a restore accepts.
 * Undefined: nothing can be selected.
 */
export function usePicking(spec: RestoreSpec | undefined): Picking | undefined {
  const key = spec === undefined ? '' : JSON.stringify(spec);
  const plan = useAsked(
    key,
    async (signal) => (spec === undefined ? undefined : restore(spec, { dryRun: true, signal })),
    { persists: false },
  );
  const [picked, setPicked] = useState<{ key: string; paths: ReadonlySet<string> }>(NONE);
  const chosen = picked.key === key ? picked.paths : NONE.paths;
  const known = useMemo(() => {
    const paths = (plan.value?.[0]?.changes ?? []).map(({ path }) => path).filter(canBePutBack);
    return { paths: new Set(paths), ...createBlame(paths.map((path) => ({ path }))) };
  }, [plan.value]);
  if (spec === undefined) return undefined;
  const isReading = plan.isReading;
  return {
    ...{ chosen, isReading },
    nameElement: isReading ? undefined : known.nameElement,
    problem: problemOf(plan.error, !isReading && known.paths.size === 0),
    has: (path) => chosen.has(path),
    canPick: (path) => enclosing(path, known.paths),
    toggle: (path) => {
      const next = new Set(chosen);
      if (!next.delete(path)) next.add(path);
      setPicked({ key, paths: next });
    },
  };
}

const NONE = { key: '', paths: new Set<string>() } as const;

const problemOf = (error: unknown, isNothing: boolean): string =>
  error instanceof Error ? error.message : isNothing ? 'The object is what the left one is already.' : '';

/** The boxes beside the first line of each restorable field. Keyed by side and line number. */
export type Boxes = ReadonlyMap<string, string>;

export function boxesOf(
  rows: readonly Row[],
  sides: { readonly left: readonly Line[]; readonly right: readonly Line[] },
  { canPick }: Picking,
): Boxes {
  const seen = new Set<string>();
  const boxes = new Map<string, string>();
  for (const row of rows) {
    if (row.kind === 'same') continue;
    for (const side of ['left', 'right'] as const) {
      const number = row[side]?.number;
      const path = number === undefined ? undefined : sides[side][number - 1]?.path;
      const field = path === undefined ? undefined : canPick(path);
      if (field === undefined || seen.has(field)) continue;
      seen.add(field);
      boxes.set(`${side}${number}`, field);
    }
  }
  return boxes;
}

export function PickBox({ path, picking }: { path: string; picking: Picking }): JSX.Element {
  return (
    <input
      type="checkbox"
      class="pick"
      checked={picking.has(path)}
      aria-label={`Put back ${path}`}
      title={`Put back ${path}`}
      onChange={() => picking.toggle(path)}
    />
  );
}

interface PickBarProps {
  readonly picking: Picking;
  restore(paths: readonly string[]): void;
}

export function PickBar({ picking, restore }: PickBarProps): JSX.Element {
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
