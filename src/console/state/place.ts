import { computed, signal } from '@preact/signals';
import {
  type Address,
  type ChangesAddress,
  formatAddress,
  type ListAddress,
  lasting,
  type ObjectAddress,
  type Params,
  parseAddress,
} from '../model/address.ts';

/** The address of the page, and values derived from it. */
export const address = signal<Address>(parseAddress(location.hash));

addEventListener('hashchange', () => {
  address.value = parseAddress(location.hash);
});

export const params = computed(() => address.value.params);

/** A time or a revision. Undefined: the present. */
export const asOf = computed(() => params.value.at);

/** '': all namespaces. */
export const namespace = computed(() => params.value.ns ?? '');

/** `replace`: adds no entry to the browser's history. */
export function go(to: Address, { replace = false } = {}): void {
  const hash = formatAddress(to);
  if (hash === location.hash) return;
  if (replace) {
    history.replaceState(null, '', hash);
    address.value = parseAddress(hash);
  } else location.hash = hash;
}

/** Changes the page's parameters; '' removes one. */
export function change(changes: Params, options?: { readonly replace?: boolean }): void {
  go(changed(changes), options);
}

export const changed = (changes: Params): Address => ({
  ...address.value,
  params: { ...address.value.params, ...changes },
});

type Page<A extends Address> = Omit<A, 'params'>;

/** A link to another page at the same time, in the same namespace. */
export const hrefOf = (to: Page<ListAddress> | Page<ObjectAddress> | Page<ChangesAddress>): string =>
  formatAddress({ ...to, params: lasting(params.value) });

export const hrefOfObject = (resource: string, space: string, name: string, more: Params = {}): string =>
  formatAddress({
    page: 'object',
    resource,
    namespace: space,
    name,
    params: { ...lasting(params.value), ...more },
  });

export const lastingParams = (): Params => lasting(params.value);
