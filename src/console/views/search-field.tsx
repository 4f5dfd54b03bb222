import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../state/key-handlers.ts';
import { change, params } from '../state/place.ts';
import { Icon } from './icons.tsx';
import { Key } from './text.tsx';

/** Filters while the user types; updates the address a moment later, so that letters add no history entries. */
export function SearchField({ label }: { label: string }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const asked = params.value.q ?? '';
  const [typed, setTyped] = useState(asked);
  useEffect(() => setTyped(asked), [asked]);
  useEffect(() => {
    if (typed === asked) return;
    const timer = setTimeout(() => change({ q: typed }, { replace: true }), 120);
    return () => clearTimeout(timer);
  }, [typed]);
  useKeys({ '/': () => field.current?.focus() });
  return (
    <label class="search">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        value={typed}
        placeholder={label}
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Key>/</Key>
    </label>
  );
}
