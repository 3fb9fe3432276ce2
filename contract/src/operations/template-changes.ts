/** Operations on the versions, plans and rollouts of templates, shared by both kinds of template. */
import { type TProperties, type TSchema, Type } from 'typebox';
import { ListRolloutItemsQuery, Rollout, RolloutItemList, RolloutList } from '../catalog/rollouts.ts';
import { ListPlanItemsQuery, TemplatePlan, TemplatePlanItemList } from '../catalog/template-plans.ts';
import {
  ListVersionsQuery,
  TemplateVersion,
  TemplateVersionList,
  VersionNumber,
} from '../catalog/template-versions.ts';
import type { ErrorCode } from '../error-catalogue.ts';
import type { OperationPath } from './operation.ts';

/** A kind of templates. */
interface Kind<
  Path extends string,
  Params extends TProperties,
  RolloutParam extends string,
  RolloutParams extends TSchema,
  PlanParam extends string,
  PlanParams extends TSchema,
  Update extends TSchema,
> {
  path: Path;
  tag: string;
  /** Name of this kind of template. */
  what: string;
  params: Params;
  /** Name of the path parameter for a rollout id. */
  rolloutParam: RolloutParam;
  rolloutParams: RolloutParams;
  /** Name of the path parameter for a plan id. */
  planParam: PlanParam;
  planParams: PlanParams;
  update: Update;
  notFound: ErrorCode;
  planErrors: readonly ErrorCode[];
}

export function changesOf<
  Path extends OperationPath,
  Params extends TProperties,
  RolloutParam extends string,
  RolloutParams extends TSchema,
  PlanParam extends string,
  PlanParams extends TSchema,
  Update extends TSchema,
>(kind: Kind<Path, Params, RolloutParam, RolloutParams, PlanParam, PlanParams, Update>) {
  const { path, tag, what, params, rolloutParam, rolloutParams, planParam, planParams, notFound } = kind;
  const template = { access: 'operator', tag, params: Type.Object(params) } as const;
  const rollout = { access: 'operator', tag, params: rolloutParams } as const;
  const command = {
    ...rollout,
    isRepeatable: true,
    answer: Rollout,
    errors: [notFound, 'rollout_not_found', 'rollout_ended'],
  } as const;
  const plan = { access: 'operator', tag, params: planParams, errors: [notFound, 'plan_not_found'] } as const;
  return {
    listVersions: {
      ...template,
      route: `GET ${path}/versions`,
      paging: 'cursor',
      summary: `List versions of a ${what}`,
      description:
        'Returns the versions of the template, newest first. Every change creates a version. Versions never change and are kept as long as the template.',
      query: ListVersionsQuery,
      answer: TemplateVersionList,
      errors: [notFound, 'definitions_unavailable'],
    },
    getVersion: {
      access: 'operator',
      tag,
      route: `GET ${path}/versions/{version}`,
      summary: `Get version of a ${what}`,
      params: Type.Object({ ...params, version: VersionNumber('Version number.') }),
      answer: TemplateVersion,
      errors: [notFound, 'template_version_not_found', 'definitions_unavailable'],
    },
    listRollouts: {
      ...template,
      route: `GET ${path}/rollouts`,
      summary: `List rollouts of a ${what}`,
      answer: RolloutList,
      errors: [notFound],
    },
    getRollout: {
      ...rollout,
      route: `GET ${path}/rollouts/{${rolloutParam}}`,
      summary: `Get rollout of a ${what}`,
      description: 'Returns a rollout with its progress.',
      answer: Rollout,
      errors: [notFound, 'rollout_not_found'],
    },
    listRolloutWorkspaces: {
      ...rollout,
      route: `GET ${path}/rollouts/{${rolloutParam}}/workspaces`,
      paging: 'cursor',
      summary: `List workspaces of a rollout of a ${what}`,
      description: 'Returns the progress of each workspace, and why it failed or was skipped.',
      query: ListRolloutItemsQuery,
      answer: RolloutItemList,
      errors: [notFound, 'rollout_not_found'],
    },
    pauseRollout: {
      ...command,
      route: `POST ${path}/rollouts/{${rolloutParam}}/pause`,
      summary: `Pause rollout of a ${what}`,
      description: 'Pauses the rollout. Workspaces already being changed are completed.',
    },
    resumeRollout: {
      ...command,
      route: `POST ${path}/rollouts/{${rolloutParam}}/resume`,
      summary: `Resume rollout of a ${what}`,
      description: 'Resumes the rollout where it was paused, or continues with the next stage.',
    },
    stopRollout: {
      ...command,
      route: `POST ${path}/rollouts/{${rolloutParam}}/stop`,
      summary: `Stop rollout of a ${what}`,
      description: 'Stops the rollout permanently. Changed workspaces keep the new version until you roll back.',
    },
    plan: {
      ...template,
      route: `POST ${path}/plan`,
      summary: `Plan change of a ${what}`,
      description:
        'Returns what a PATCH with the same body would do, without changing anything. PATCH with the `plan_id` then makes exactly this change, or responds with 409 if the plan is out of date.',
      body: kind.update,
      isRepeatable: true,
      answer: TemplatePlan,
      errors: [notFound, ...kind.planErrors],
    },
    getPlan: {
      ...plan,
      route: `GET ${path}/plans/{${planParam}}`,
      summary: `Get plan of a ${what}`,
      description: 'Returns a plan as it was created. Plans are kept for a day, at most ten per template.',
      answer: TemplatePlan,
    },
    listPlanItems: {
      ...plan,
      route: `GET ${path}/plans/{${planParam}}/items`,
      paging: 'cursor',
      summary: `List items of a plan of a ${what}`,
      description: 'Returns what happens to each source or connection, and why.',
      query: ListPlanItemsQuery,
      answer: TemplatePlanItemList,
    },
  } as const;
}
