"""Print what SAM CLI finds in templates: a line for each function and each route."""

import sys

from samcli.lib.providers.api_provider import ApiProvider
from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

for path in sys.argv[1:]:
    stacks, _ = SamLocalStackProvider.get_stacks(path)
    names = {f.name: f.functionname for f in SamFunctionProvider(stacks).get_all()}
    for name in names.values():
        print("function", name)
    for route in ApiProvider(stacks).api.routes:
        for method in set(route.methods) - {"OPTIONS"}:  # which it adds for CORS
            # A route names its function or its logical id.
            print("route", method, route.path, names.get(route.function_name, route.function_name))
