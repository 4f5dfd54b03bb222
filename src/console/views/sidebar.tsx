import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Kind, pluralOf, toSections } from '../api/load-kinds.ts';
import { kinds } from '../state/catalog.ts';
import { useKeys } from '../state/key-handlers.ts';
import { address, hrefOf } from '../state/place.ts';
import { NamespaceField } from './namespace-field.tsx';
import { Text } from './text.tsx';

/** Kinds by section. On a phone it covers the page. */
export function Sidebar({ isOpen, close }: { isOpen: boolean; close: () => void }): JSX.Element {
  const [search, setSearch] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const current = address.value.page === 'changes' ? '' : address.value.resource;
  useKeys({ g: () => field.current?.focus() });
  useEffect(close, [address.value]);
  const wanted = search.toLowerCase().trim();
  const sections = toSections(kinds.value)
    .map(({ title, kinds: own }) => ({ title, kinds: own.filter((kind) => isMeant(kind, wanted)) }))
    .filter(({ kinds: own }) => own.length > 0);
  return (
    <nav class={`sidebar ${isOpen ? 'is-open' : ''}`} aria-label="Kinds">
      <NamespaceField />
      <form
        class="kind-search"
        onSubmit={(event) => {
          event.preventDefault();
          const [first] = sections[0]?.kinds ?? [];
          if (first === undefined) return;
          location.hash = hrefOf({ page: 'list', resource: first.id });
          setSearch('');
          field.current?.blur();
        }}
      >
        <input
          ref={field}
          type="search"
          placeholder="Find a kind"
          aria-label="Find a kind"
          autocomplete="off"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      </form>
      {sections.map(({ title, kinds: own }) => (
        <section key={title}>
          <h2>
            <Text of={title} />
          </h2>
          <ul>
            {own.map((kind) => (
              <li key={kind.id}>
                <a
                  href={hrefOf({ page: 'list', resource: kind.id })}
                  title={kind.id}
                  aria-current={kind.id === current ? 'page' : undefined}
                >
                  <Text of={pluralOf(kind)} />
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

const isMeant = ({ id, kind, shortNames }: Kind, wanted: string): boolean =>
  wanted === '' || id.includes(wanted) || kind.toLowerCase().includes(wanted) || shortNames.includes(wanted);
