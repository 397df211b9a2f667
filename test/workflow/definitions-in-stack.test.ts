import { beforeAll, describe, expect, test } from '@jest/globals';
import { MOST } from '../infra/option-sets.ts';
import { ofType, type Resource, type ServiceTemplate, synthesizeService } from '../infra/service-template.ts';
import { definitionText, FILES, isUnderToken, placeholdersIn, type State, TASKS } from './asl.ts';

/**
 * Seconds an invocation may take beyond its function's timeout: Lambda gives a cold start 10 s of its own
 * (https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html).
 */
const COLD_START_SECONDS = 10;

describe('in the stack', () => {
  let service: ServiceTemplate;
  beforeAll(async () => {
    // The longest deadline a deployment can have.
    service = await synthesizeService(MOST);
  });

  const stateMachineOf = (file: string): Resource['Properties'] => {
    const found = ofType(service.resources, 'AWS::StepFunctions::StateMachine').find(
      ([, { Properties }]) => Properties.DefinitionString === definitionText(file),
    );
    if (!found) throw new Error(`No state machine is defined by ${file}.`);
    return found[1].Properties;
  };

  test.each(FILES)('%s has every placeholder substituted and every substitution used', (file) => {
    const { DefinitionString, DefinitionSubstitutions } = stateMachineOf(file);

    expect(Object.keys(DefinitionSubstitutions).toSorted()).toEqual(
      placeholdersIn(DefinitionString).toSorted(),
    );
  });

  test.each(TASKS.filter(({ task }) => !isUnderToken(task)))(
    '$file: $name outlasts its function, so that States.Timeout never ends a task whose function still runs',
    ({ file, task }) => {
      expect(task.TimeoutSeconds).toBeGreaterThanOrEqual(
        functionTimeoutSeconds(file, task) + COLD_START_SECONDS,
      );
    },
  );

  const functionTimeoutSeconds = (file: string, task: State): number => {
    const [placeholder = ''] = placeholdersIn(task.Parameters?.FunctionName ?? '');
    const arn = stateMachineOf(file).DefinitionSubstitutions[placeholder];
    return service.resources[arn?.['Fn::GetAtt'][0]]?.Properties.Timeout;
  };
});
