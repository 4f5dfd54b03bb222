// Written from src/api/idl/apidiscovery/v2beta1.proto by the build. Change that file, not this one.

export type { APIGroupDiscovery, APIGroupDiscoveryList, APIResourceDiscovery, APISubresourceDiscovery, APIVersionDiscovery } from './v2.ts';
