import { ofType, projectContext } from '../../test/infra/service-template.ts';
import { synthesize } from '../../test/infra/synthesis.ts';

/** The settings of the deployed stack that decide costs and waits, read from the synthesized template. */
export interface Deployed {
  /** Memory of each function in gigabytes, by its name: `api/create-video`. */
  gigabytes: ReadonlyMap<string, number>;
  /** The event with which the schedule invokes the reconciler each minute. */
  scheduledEvent: unknown;
  /** `modelRoutes` of `cdk.json`, as functions read them. */
  routes: string;
}

const MEGABYTES = 1_024;

interface Target {
  Arn: { 'Fn::GetAtt'?: [logicalId: string, attribute: string] };
  Input?: string;
}

/** Synthesizes the stack with the project's own context. Throws without a schedule of the reconciler. */
export const readDeployed = (): Deployed => {
  const { resources, functions } = synthesize({});
  const reconcile = functions['events/reconcile']?.logicalId;
  const [input] = ofType(resources, 'AWS::Events::Rule')
    .filter(([, { Properties }]) => Properties.ScheduleExpression !== undefined)
    .flatMap(([, { Properties }]) => Properties.Targets as Target[])
    .filter(({ Arn }) => Arn['Fn::GetAtt']?.[0] === reconcile)
    .map(({ Input = '{}' }) => Input);
  if (input === undefined) throw new Error('No schedule invokes the reconciler.');
  const gigabytes = Object.entries(functions).map(
    ([name, { properties }]) => [name, Number(properties.MemorySize) / MEGABYTES] as const,
  );
  return {
    gigabytes: new Map(gigabytes),
    scheduledEvent: JSON.parse(input),
    routes: JSON.stringify(projectContext().modelRoutes),
  };
};
