import type { JSX } from 'preact';
import { inOneLine } from '../model/text.ts';
import { namespaces } from '../state/catalog.ts';
import { address, change, go, lastingParams, namespace } from '../state/place.ts';

/** A selection of the known namespaces, or a text field for users who may not list them. */
export function NamespaceField(): JSX.Element {
  const known = namespaces.value;
  const current = namespace.value;
  const choose = (ns: string): void => {
    const { value } = address;
    // An object's namespace is fixed: another one leads to the list.
    if (value.page === 'object')
      go({ page: 'list', resource: value.resource, params: { ...lastingParams(), ns } });
    else change({ ns });
  };
  if (known.length === 0)
    return (
      <input
        class="namespace"
        type="text"
        aria-label="Namespace"
        placeholder="All namespaces"
        value={current}
        onChange={({ currentTarget }) => choose(currentTarget.value.trim())}
      />
    );
  return (
    <select
      class="namespace"
      aria-label="Namespace"
      value={current}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      <option value="">All namespaces</option>
      {(known.includes(current) || current === '' ? known : [current, ...known]).map((name) => (
        <option key={name} value={name}>
          {inOneLine(name, 60)}
        </option>
      ))}
    </select>
  );
}
