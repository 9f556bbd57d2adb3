import { handlers } from './handlers.mjs';
import { library } from './langchain.mjs';
import { serve } from './protocol.mjs';

await serve({
  implementation: { name: `threadspec-node (${library})`, version: '0.1.0', language: 'JavaScript' },
  profiles: ['literal', 'hardened', 'universal'],
  handlers,
});
