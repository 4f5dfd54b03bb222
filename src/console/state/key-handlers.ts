import { useEffect, useRef } from 'preact/hooks';

/** Key handlers: the newest part of the page that knows a key handles it. */
type Handlers = Readonly<Record<string, () => void>>;

const layers: { current: Handlers }[] = [];

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const { target } = event;
  // In a field, keys are text; Escape leaves it.
  if (target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')) {
    const isSlider = target instanceof HTMLInputElement && target.type === 'range';
    if (event.key === 'Escape') target.blur();
    if (!isSlider) return;
  }
  for (const layer of layers.toReversed()) {
    const handle = layer.current[event.key];
    if (handle === undefined) continue;
    // Links and buttons handle Enter themselves.
    if (event.key === 'Enter' && target instanceof HTMLElement && target.matches('a, button, summary'))
      return;
    event.preventDefault();
    handle();
    return;
  }
});

export function useKeys(handlers: Handlers): void {
  const layer = useRef({ current: handlers }).current;
  // At once rather than after drawing: the user may type faster.
  layer.current = handlers;
  useEffect(() => {
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
    };
  }, []);
}
