import { withFewArenas } from './run/few-arenas.ts';

withFewArenas();
const { demoCommand } = await import('./run/demo-command.ts');
await demoCommand();
