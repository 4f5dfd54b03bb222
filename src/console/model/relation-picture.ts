import type { ApiObject, OwnerReference } from './api-object.ts';

/** An object in the picture of owners and dependents, with its place. */
export interface Related {
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** The plural with its group; '' where the kind is unknown or the object unreadable. */
  readonly resource: string;
  readonly isHere: boolean;
}

export interface Edge {
  readonly owner: string;
  readonly dependent: string;
}

export interface Placed extends Related {
  readonly x: number;
  readonly y: number;
}

interface Picture {
  readonly nodes: readonly Placed[];
  readonly edges: readonly { readonly from: Placed; readonly to: Placed }[];
  readonly width: number;
  readonly height: number;
}

export const NODE = { width: 210, height: 48 } as const;
const GAP = { x: 64, y: 14 } as const;

/** Arranges owners to the left, dependents to the right, each in the column after its farthest owner. Accepts cycles. */
export function toPicture(nodes: readonly Related[], edges: readonly Edge[]): Picture {
  const column = columnsOf(nodes, edges);
  const columns: Related[][] = [];
  for (const node of nodes) {
    const index = column.get(node.key) ?? 0;
    columns[index] ??= [];
    columns[index].push(node);
  }
  const tallest = Math.max(1, ...columns.map((one) => one?.length ?? 0));
  const height = tallest * NODE.height + (tallest - 1) * GAP.y;
  const placed = new Map<string, Placed>();
  for (const [index, own = []] of columns.entries()) {
    const ordered = inOrderOfOwners(own, edges, placed);
    const used = ordered.length * NODE.height + (ordered.length - 1) * GAP.y;
    for (const [row, node] of ordered.entries()) {
      const y = (height - used) / 2 + row * (NODE.height + GAP.y);
      placed.set(node.key, { ...node, x: index * (NODE.width + GAP.x), y });
    }
  }
  return {
    nodes: [...placed.values()],
    edges: edges.flatMap(({ owner, dependent }) => {
      const from = placed.get(owner);
      const to = placed.get(dependent);
      return from === undefined || to === undefined ? [] : [{ from, to }];
    }),
    width: columns.length * NODE.width + (columns.length - 1) * GAP.x,
    height,
  };
}

function columnsOf(nodes: readonly Related[], edges: readonly Edge[]): Map<string, number> {
  const column = new Map(nodes.map(({ key }) => [key, 0]));
  // Bounded by the longest chain, because a cycle would never settle.
  for (let round = 0; round < nodes.length; round++) {
    let moved = false;
    for (const { owner, dependent } of edges) {
      const wanted = (column.get(owner) ?? 0) + 1;
      if ((column.get(dependent) ?? 0) >= wanted || wanted >= nodes.length) continue;
      column.set(dependent, wanted);
      moved = true;
    }
    if (!moved) break;
  }
  return column;
}

/** Places siblings together to avoid crossing edges. */
function inOrderOfOwners(
  own: readonly Related[],
  edges: readonly Edge[],
  placed: ReadonlyMap<string, Placed>,
): Related[] {
  const heightOf = ({ key }: Related): number => {
    const owner = edges.find(({ dependent, owner }) => dependent === key && placed.has(owner));
    return owner === undefined ? 0 : (placed.get(owner.owner)?.y ?? 0);
  };
  return own.toSorted(
    (a, b) => heightOf(a) - heightOf(b) || a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name),
  );
}

/** The objects of the list that depend on `uid`, directly or not. */
export function dependentsOf(uid: string, candidates: readonly Candidate[]): Candidate[] {
  const found = new Map<string, Candidate>();
  let owners = new Set([uid]);
  while (owners.size > 0) {
    const next = new Set<string>();
    for (const candidate of candidates) {
      const { uid: own, ownerReferences = [] } = candidate.object.metadata;
      if (own === uid || found.has(own) || !ownerReferences.some((reference) => owners.has(reference.uid)))
        continue;
      found.set(own, candidate);
      next.add(own);
    }
    owners = next;
  }
  return [...found.values()];
}

export interface Candidate {
  readonly resource: string;
  readonly kind: string;
  readonly object: ApiObject;
}

export const ownersOf = ({ metadata }: ApiObject): readonly OwnerReference[] =>
  metadata.ownerReferences ?? [];
