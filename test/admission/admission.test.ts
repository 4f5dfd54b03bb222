import { expect, test } from 'vitest';
import { AdmissionChain } from '../../src/admission/admission.ts';
import { attributesOf, toObject } from '../kit/admission.ts';

test('a chain lets nothing through before it has its plugins', async () => {
  const chain = new AdmissionChain();
  const attributes = attributesOf('configmaps', { object: toObject({ metadata: { name: 'it' } }) });
  await expect(chain.mutate(attributes)).rejects.toThrow('no plugins yet');
  await expect(chain.validate(attributes)).rejects.toThrow('no plugins yet');
  chain.use([]);
  await expect(chain.mutate(attributes)).resolves.toBeUndefined();
  await expect(chain.validate(attributes)).resolves.toBeUndefined();
});
