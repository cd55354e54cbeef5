"""What engineers hold in their hands, as settings of the plan: recipes, headers, configs."""
