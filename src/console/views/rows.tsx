import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../state/key-handlers.ts';

/** Draws only visible rows, however many there are. All have one height. */
interface RowsProps<T> {
  readonly items: readonly T[];
  readonly rowHeight: number;
  readonly label: string;
  readonly class?: string;
  readonly head?: JSX.Element;
  readonly columns?: number;
  /** Width of the table in pixels; a wider one scrolls. */
  readonly minWidth?: number;
  keyOf(item: T, index: number): string;
  row(item: T, index: number): JSX.Element;
  open?(item: T): void;
  /** Called near the end to load more. */
  onEnd?(): void;
  onWidth?(width: number): void;
}

/** Extra rows drawn above and below. */
const MARGIN = 14;
/** Rows scrolled before the next drawing. */
const STRIDE = 4;

export function Rows<T>(props: RowsProps<T>): JSX.Element {
  const { items, rowHeight, onEnd, columns = 1 } = props;
  const box = useRef<HTMLElement>(null);
  const { view, look } = useView(box, props);
  const { selected, mark } = useSelection(box, props);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + STRIDE + MARGIN);
  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    look(element);
    if (element.scrollTop + element.clientHeight * 2 > element.scrollHeight) onEnd?.();
  };
  const window = items.slice(first, last);
  return (
    <section
      ref={box}
      class={`rows ${props.class ?? ''}`}
      onScroll={onScroll}
      tabIndex={0}
      aria-label={props.label}
    >
      <table aria-rowcount={items.length + 1} style={{ minWidth: `${props.minWidth ?? 0}px` }}>
        {props.head}
        <tbody>
          <Gap rows={first} rowHeight={rowHeight} columns={columns} />
          {window.map((item, offset) => {
            const index = first + offset;
            return (
              <tr
                key={props.keyOf(item, index)}
                aria-rowindex={index + 2}
                aria-selected={index === selected}
                class={index === selected ? 'selected' : undefined}
                onClick={(event) => {
                  mark(index);
                  if (!isOfItsOwn(event)) props.open?.(item);
                }}
              >
                {props.row(item, index)}
              </tr>
            );
          })}
          <Gap rows={items.length - last} rowHeight={rowHeight} columns={columns} />
        </tbody>
      </table>
    </section>
  );
}

type Box = RefObject<HTMLElement | null>;

/** What is visible of the rows, in steps of {@link STRIDE} rows. */
function useView<T>(box: Box, { rowHeight, onWidth }: RowsProps<T>) {
  const [view, setView] = useState({ top: 0, height: 800 });
  const look = ({ scrollTop, clientHeight: height }: HTMLElement): void => {
    const stride = rowHeight * STRIDE;
    const top = Math.floor(scrollTop / stride) * stride;
    setView((before) => (before.top === top && before.height === height ? before : { top, height }));
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => {
      look(element);
      onWidth?.(element.clientWidth);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return { view, look };
}

/** The selected row, which keys move and open. */
function useSelection<T>(box: Box, { items, rowHeight, head, open }: RowsProps<T>) {
  const [selected, setSelected] = useState(-1);
  const latest = useRef(-1);
  const mark = (index: number): void => {
    latest.current = index;
    setSelected(index);
  };
  const select = (index: number): void => {
    const next = Math.max(0, Math.min(items.length - 1, index));
    mark(next);
    const element = box.current;
    if (element === null) return;
    // Otherwise the focused element would take the row's Enter.
    element.focus({ preventScroll: true });
    const headHeight = head === undefined ? 0 : rowHeight;
    const top = next * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    const bottom = top + rowHeight + headHeight - element.clientHeight;
    if (bottom > element.scrollTop) element.scrollTop = bottom;
  };
  useKeys({
    j: () => select(latest.current + 1),
    k: () => select(latest.current - 1),
    ArrowDown: () => select(latest.current + 1),
    ArrowUp: () => select(latest.current - 1),
    Enter: () => {
      const item = items[latest.current];
      if (item !== undefined) open?.(item);
    },
  });
  return { selected, mark };
}

/** A link in the row, or a text selection. */
const isOfItsOwn = ({ target }: Event): boolean =>
  (target instanceof Element && target.closest('a, button') !== null) ||
  getSelection()?.isCollapsed === false;

function Gap({
  rows,
  rowHeight,
  columns,
}: {
  rows: number;
  rowHeight: number;
  columns: number;
}): JSX.Element | null {
  if (rows <= 0) return null;
  return (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  );
}
