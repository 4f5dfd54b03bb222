import type { JSX } from 'preact';
import type { Kind } from '../api/load-kinds.ts';
import type { ApiObject } from '../model/api-object.ts';
import { NODE, type Placed, toPicture } from '../model/relation-picture.ts';
import { counted, shortened } from '../model/text.ts';
import { useAsked } from '../state/asked.ts';
import { kinds } from '../state/catalog.ts';
import { asOf, hrefOfObject } from '../state/place.ts';
import { readRelations } from '../state/read-relations.ts';
import { Empty, Loading, Trouble } from './notice.tsx';

const PADDING = 8;

/** Owners and dependents as a picture. */
export function RelationsView({ kind, object }: { kind: Kind; object: ApiObject }): JSX.Element {
  const asked = useAsked(`${object.metadata.uid} ${asOf.value}`, (signal) =>
    readRelations({ kind, object, kinds: kinds.value, asOf: asOf.value, signal }),
  );
  if (asked.error !== undefined) return <Trouble error={asked.error} retry={asked.again} />;
  if (asked.value === undefined) return <Loading label="Looking for owners and dependents" />;
  const { nodes, edges, leftOut } = asked.value;
  if (nodes.length < 2)
    return <Empty title="It stands alone">Nothing owns this object, and it owns nothing.</Empty>;
  const picture = toPicture(nodes, edges);
  const [width, height] = [picture.width + 2 * PADDING, picture.height + 2 * PADDING];
  return (
    <figure class="relations scrolls" aria-label="Owners and dependents">
      <svg width={width} height={height} viewBox={`${-PADDING} ${-PADDING} ${width} ${height}`}>
        <title>Owners and dependents</title>
        {picture.edges.map(({ from, to }) => (
          <path key={`${from.key} ${to.key}`} class="edge" d={curve(from, to)} />
        ))}
        {picture.nodes.map((node) => (
          <Node key={node.key} node={node} />
        ))}
      </svg>
      {leftOut > 0 && <figcaption>{counted(leftOut, 'more dependent')}, not drawn.</figcaption>}
    </figure>
  );
}

function curve(from: Placed, to: Placed): string {
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x, to.y + NODE.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function Node({ node }: { node: Placed }): JSX.Element {
  const { x, y, kind, name, namespace, resource, isHere } = node;
  const box = (
    <g
      class={`node ${isHere ? 'is-here' : ''} ${resource === '' ? 'is-gone' : ''}`}
      transform={`translate(${x} ${y})`}
    >
      <title>{`${kind} ${name}`}</title>
      <rect width={NODE.width} height={NODE.height} rx={9} />
      <text class="node-kind" x={14} y={19}>
        {shortened(kind, 28)}
        {resource === '' ? ' (gone)' : ''}
      </text>
      <text class="node-name" x={14} y={36}>
        {shortened(visible(name), 26)}
      </text>
    </g>
  );
  if (resource === '' || isHere) return box;
  return (
    <a href={hrefOfObject(resource, namespace, name, { tab: 'relations' })} aria-label={`${kind} ${name}`}>
      {box}
    </a>
  );
}

/** Valid object names are all visible; owner references may contain any text. */
const visible = (name: string): string => name.replace(/[^\x20-\x7e\u00a1-\u02ff\u0370-\u058f]/g, '·');
